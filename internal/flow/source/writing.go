package source

import (
	"bytes"
	"path"

	"github.com/stopgate/stopgate/internal/flow/index"
)

// writing collects what the arguments of one call add to an index, in one walk over them.
type writing struct {
	index texts
	batch index.Batch
	// count is how many values and marks there are, also of those that are repeated.
	count          int
	paths, folders map[string]bool // that have their marks
	marks          marks
	counts         map[string]int // of values and marks of the words that can be paths
	words, line    []byte         // scratch buffers
	key            []byte
}

// argument adds the marks of an argument of a released call, which a model wrote: of each line, and of
// all lines as one.
func (w *writing) argument(text []byte) {
	w.words = w.words[:0]
	first := true
	for l := range bytes.Lines(text) {
		begin := len(w.words)
		switch {
		case first:
			first = false
			w.words = appendLine(w.words, l)
			w.line = append(w.line[:0], w.words...)
		case isQuoted(l):
			w.words = appendWords(w.words, 0, l)
			w.line = appendLine(w.line[:0], l)
		default:
			w.words = appendWords(w.words, 0, l)
			w.line = append(w.line[:0], bytes.TrimPrefix(w.words[begin:], []byte(" "))...)
		}
		if recognisable(w.line) && !w.personal(w.line) {
			w.marks.add(markArgumentLine, w.line)
		}
	}
	if len(w.words) >= minArgument && !w.personal(w.words) {
		w.marks.add(markArgument, w.words)
	}
}

// personal reports whether a person wrote a line first.
func (w *writing) personal(line []byte) bool {
	w.key = appendMark(w.key[:0], markPersonLine, line)
	return w.index.Has(w.key)
}

// value adds a value that the agent wrote: of a member with a name, a string or a number.
func (w *writing) value(name string, text []byte, isString bool) {
	if w.count += 2; w.count > maxWritten {
		return
	}
	w.line = appendLower(w.line[:0], bytes.TrimSpace(text))
	w.marks.add(markMember, bytes.ToLower([]byte(name)), w.line)
	if isString {
		w.pathsOf(text)
	}
	w.batch.Written = append(w.batch.Written, text)
}

// dataKey adds a key that may be data.
func (w *writing) dataKey(text []byte) {
	if w.count++; w.count > maxWritten {
		return
	}
	w.pathsOf(text)
	w.batch.Written = append(w.batch.Written, text)
}

// pathsOf adds the marks of the paths in a text that the agent wrote. A word that was read before only
// counts.
func (w *writing) pathsOf(text []byte) {
	pathWords(text, func(word []byte) {
		n, ok := w.counts[string(word)]
		if !ok {
			before := w.count
			onePath(string(word), w.path)
			if w.counts == nil {
				w.counts = map[string]int{}
			}
			w.counts[string(word)] = w.count - before
			return
		}
		w.count += n
	})
}

// path adds the marks of a path, of its name, and of the folders above it.
func (w *writing) path(p string) {
	if w.count += 3; w.count > maxWritten {
		return
	}
	if w.paths[p] {
		w.count += folders(p, func(string) {})
		return
	}
	w.marks.add(markPath, []byte(p))
	w.marks.add(nameMark(p, true))
	if !path.IsAbs(p) {
		w.marks.add(nameMark(p, false))
	}
	if w.paths == nil {
		w.paths, w.folders = map[string]bool{}, map[string]bool{}
	}
	w.paths[p] = true
	w.count += folders(p, func(dir string) {
		if !w.folders[dir] {
			w.folders[dir] = true
			w.marks.add(markFolder, []byte(dir))
		}
	})
}

// folders calls each for the folders above a path, and returns how many there are.
func folders(p string, each func(dir string)) (n int) {
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		each(dir)
		n++
	}
	each("/")
	each(".")
	return n + 2
}
