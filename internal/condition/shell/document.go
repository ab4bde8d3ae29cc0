package shell

import "bytes"

// Texts that a line gives to a command as its input, as they are written:
//
//	cat > notes.md <<'END'
//	text
//	END

// documented are programs that take such a text for nothing but a text.
var documented = words{"cat", "tee", "git"}

// opensDocument reads << and what ends the text, in quotes so that nothing in it is
// expanded. The text begins behind the line.
func (r *strictReader) opensDocument() bool {
	rest := skipBlanks(r.text[r.pos:])
	if r.document != nil || r.piped || r.within || len(rest) == 0 || rest[0] != '\'' && rest[0] != '"' {
		return false
	}
	end, behind, ok := bytes.Cut(rest[1:], rest[:1])
	for i, c := range end {
		ok = ok && (isLetter(c) || i > 0 && '0' <= c && c <= '9')
	}
	if !ok || len(end) == 0 || len(behind) > 0 && !ends(behind[0]) {
		return false
	}
	r.document, r.reads = end, true
	r.pos = len(r.text) - len(behind)
	return true
}

// skipDocument goes behind the text that begins here. No line before its end may be taken
// for it, and there is nothing that is not shown, or that an interactive shell replaces.
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

// writtenLine is shownLine for a text that is kept in a file: with tabs, and != in it.
func writtenLine(line []byte) bool {
	if bytes.IndexByte(line, '\t') >= 0 || bytes.Contains(line, []byte("!=")) {
		line = bytes.ReplaceAll(bytes.ReplaceAll(line, []byte("\t"), []byte(" ")), []byte("!="), []byte("  "))
	}
	return shownLine(line)
}
