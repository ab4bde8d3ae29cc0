package occur

import (
	"bytes"
	"path"

	"github.com/stopgate/stopgate/flow"
)

// path finds the path that a piece is.
func (s *scanner) path(start, end int) {
	piece := s.text[start:end]
	if piece[0] == '@' { // a mention
		start, piece = start+1, piece[1:]
	}
	if bytes.ContainsAny(piece, `/\~`) {
		s.cleaned(piece, start, false)
	}
	if at := lineNumber(piece); at < len(piece) {
		s.cleaned(piece[:at], start, false)
	}
	if at := bytes.LastIndexByte(piece, '='); at >= 0 {
		s.cleaned(piece[at+1:], start+at+1, true)
	}
}

// lineNumber returns the start of ":12" or ":12:5" at the end of a path, or its end.
func lineNumber(text []byte) int {
	end := len(text)
	for range 2 {
		at := end
		for at > 0 && classes[text[at-1]] == digit {
			at--
		}
		if at == end || at < 2 || text[at-1] != ':' {
			break
		}
		end = at - 1
	}
	return end
}

func (s *scanner) cleaned(text []byte, start int, loose bool) {
	if isClean(text) {
		s.emit(flow.Path, text, start, start+len(text), loose)
		return
	}
	if p, ok := plainPath(text); ok {
		s.emit(flow.Path, []byte(p), start, start+len(text), loose)
	} else if p := loosePath(text); p != "" {
		s.emit(flow.Path, []byte(p), start, start+len(text), true)
	}
}

// isClean reports whether a path is its own canonical spelling.
func isClean(text []byte) bool {
	if len(text) == 0 || len(text) > longestPath || text[len(text)-1] == '/' {
		return false
	}
	last := byte('/')
	for i, c := range text {
		if c == '\\' || last == '/' && (c == '.' || c == '/' && i > 0) {
			return false
		}
		last = c
	}
	return text[0] != '/' || len(text) > 1
}

// longestPath is the length of a path.
const longestPath = 4096

// plainPath cleans a path that all programs read in the same way: without "..", "\" and "//" at
// its start.
func plainPath(text []byte) (cleaned string, ok bool) {
	if len(text) > longestPath {
		return "", false
	}
	if len(text) == 0 || bytes.IndexByte(text, '\\') >= 0 || bytes.HasPrefix(text, []byte("//")) || bytes.Contains(text, []byte("://")) {
		return "", false
	}
	if bytes.Contains(text, []byte("..")) {
		for part := range bytes.SplitSeq(text, []byte("/")) {
			if string(part) == ".." {
				return "", false
			}
		}
	}
	cleaned = path.Clean(string(text))
	return cleaned, cleaned != "/" && cleaned != "."
}

// loosePath cleans a path of any system.
func loosePath(text []byte) string {
	cleaned := path.Clean(string(bytes.ReplaceAll(text, []byte(`\`), []byte("/"))))
	if cleaned == "/" || cleaned == "." || cleaned == ".." {
		return ""
	}
	return cleaned
}

// plainPath adds the needles of a path, or of the folders that it is below.
func (r *reader) plainPath(value []byte) {
	r.add(flow.ID, value)
	p, ok := plainPath(value)
	if !ok {
		return
	}
	for range maxFolders {
		r.add(flow.Path, []byte(p))
		r.add(flow.ID, []byte(p))
		if r.q.Relation != flow.Below {
			return
		}
		if p = path.Dir(p); p == "/" || p == "." || p == "~" || !r.q.Weak && weak([]byte(p)) {
			return
		}
	}
}

// maxFolders is the number of folders above a path that are looked for.
const maxFolders = 32
