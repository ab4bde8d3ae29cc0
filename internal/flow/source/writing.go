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
	line           []byte          // scratch buffer
}

// argument adds the marks of an argument of a released call, which a model wrote.
func (w *writing) argument(text []byte) {
	w.line = appendLine(w.line[:0], text)
	if len(w.line) >= minArgument && !w.index.Has(mark(markPersonLine, w.line)) {
		w.batch.Marks = append(w.batch.Marks, mark(markArgument, w.line))
	}
	for l := range bytes.Lines(text) {
		w.line = appendLine(w.line[:0], l)
		if recognisable(w.line) && !w.index.Has(mark(markPersonLine, w.line)) {
			w.batch.Marks = append(w.batch.Marks, mark(markArgumentLine, w.line))
		}
	}
}

// value adds a value that the agent wrote: of a member with a name, a string or a number.
func (w *writing) value(name string, text []byte, isString bool) {
	if w.count += 2; w.count > maxWritten {
		return
	}
	w.batch.Marks = append(w.batch.Marks, memberMark(name, text))
	if isString {
		w.pathsOf(text)
	}
	w.batch.Written = append(w.batch.Written, text)
}

// key adds a key that may be data.
func (w *writing) key(text []byte) {
	if w.count++; w.count > maxWritten {
		return
	}
	w.pathsOf(text)
	w.batch.Written = append(w.batch.Written, text)
}

// pathsOf adds the marks of the paths in a text that the agent wrote: of each path, of its name, and
// of the folders above it.
func (w *writing) pathsOf(text []byte) {
	paths(text, func(p string) {
		if w.count += 3; w.count > maxWritten {
			return
		}
		first := !w.paths[p]
		if first {
			w.batch.Marks = append(w.batch.Marks, mark(markPath, []byte(p)), nameMark(p, true))
			if !path.IsAbs(p) {
				w.batch.Marks = append(w.batch.Marks, nameMark(p, false))
			}
			if w.paths == nil {
				w.paths, w.folders = map[string]bool{}, map[string]bool{}
			}
			w.paths[p] = true
		}
		for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
			w.folder(dir, first)
		}
		w.folder("/", first)
		w.folder(".", first)
	})
}

func (w *writing) folder(dir string, first bool) {
	if w.count++; first && !w.folders[dir] {
		w.folders[dir] = true
		w.batch.Marks = append(w.batch.Marks, mark(markFolder, []byte(dir)))
	}
}
