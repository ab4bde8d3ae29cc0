// Package jsonc converts JSON with comments to JSON of the same length: every offset stays, so that
// positions in the plain text are valid in the original.
//
//	root, err := jsonstream.Parse(jsonc.Plain(text), jsonstream.Options{})
package jsonc

import "bytes"

// Plain replaces comments, and commas before a closing bracket, by blanks. The result of any other
// text is not valid JSON.
func Plain(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := "\n"
			if out[i+1] == '*' {
				end = "*/"
			}
			n := bytes.Index(out[i+2:], []byte(end))
			if n < 0 {
				n = len(out) - i - 2
			}
			last := i + 2 + n
			if end == "*/" {
				last += 2
			}
			for ; i < min(last, len(out)); i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
			i--
		case c == ',':
			comma = i
		case c == ']' || c == '}':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}
