// Package jsonc reads settings that are JSON with comments as JSON: every offset stays, so
// that what is found in the plain text can be changed in the one that a person wrote.
//
//	root, err := jsonstream.Parse(jsonc.Plain(text), jsonstream.Options{})
package jsonc

import "bytes"

// Plain returns the text with blanks in the place of comments, and of commas before a
// closing bracket. What is no such text comes out as what is no JSON.
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
