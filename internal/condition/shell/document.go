package shell

import "bytes"

// Here-documents, as they are written:
//
//	cat > notes.md <<'END'
//	text
//	END

// opensDocument parses << and its quoted delimiter; the quotes prevent expansion. The document
// begins on the next line.
func (r *strictReader) opensDocument() bool {
	rest := skipBlanks(r.text[r.pos:])
	if r.document != nil || r.piped || r.within || len(rest) == 0 || rest[0] != '\'' && rest[0] != '"' {
		return false
	}
	end, after, ok := bytes.Cut(rest[1:], rest[:1])
	for i, c := range end {
		ok = ok && (IsLetter(c) || i > 0 && '0' <= c && c <= '9')
	}
	if !ok || len(end) == 0 || len(after) > 0 && !ends(after[0]) {
		return false
	}
	r.document, r.reads = end, true
	r.pos = len(r.text) - len(after)
	return true
}

// skipDocument skips the document that begins here. No line before its end may be mistaken for the
// end, and it must contain no invisible characters and none that an interactive shell replaces.
func (r *strictReader) skipDocument() bool {
	end := r.document
	for r.pos < len(r.text) {
		line, _, _ := bytes.Cut(r.text[r.pos:], []byte("\n"))
		r.pos = min(len(r.text), r.pos+len(line)+1)
		if bytes.Equal(line, end) {
			r.document = nil
			return true
		}
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), end) || mixed(line, end) || bytes.HasSuffix(line, []byte(`\`)) || !writtenLine(line) {
			return false
		}
	}
	return false
}

// writtenLine is shownLine for a text that is stored in a file: it may contain tabs and !=.
func writtenLine(line []byte) bool {
	if bytes.IndexByte(line, '\t') >= 0 || bytes.Contains(line, []byte("!=")) {
		line = bytes.ReplaceAll(bytes.ReplaceAll(line, []byte("\t"), []byte(" ")), []byte("!="), []byte("  "))
	}
	return shownLine(line)
}
