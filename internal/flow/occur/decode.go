package occur

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// The lengths from which words are read as encoded.
const (
	shortestBase64 = 8
	shortestHex    = 12
)

// decodings calls each for what a text without white space could encode: once with the escapes of
// URLs, of HTML and of strings decoded, and for every word in base64 or in hexadecimal digits.
func decodings(text []byte, f features, each func(decoded []byte)) {
	if f&(hasPercent|hasAmpersand|hasBackslash) != 0 {
		d := text
		for _, s := range spelling.PercentDecoded(string(d)) {
			d = []byte(s)
		}
		if f&hasAmpersand != 0 {
			d = []byte(html.UnescapeString(string(d)))
		}
		if u := unescaped(d); u != nil {
			d = u
		}
		if !bytes.Equal(d, text) {
			each(d)
		}
	}
	if f&hasLong != 0 {
		decodedWords(text, each)
	}
}

// unescaped decodes \uXXXX and \xXX, nil if there is none.
func unescaped(text []byte) (out []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			n := map[byte]int{'u': 4, 'U': 8, 'x': 2}[text[i+1]]
			if v, ok := spelling.HexValue(string(text[i+2:min(len(text), i+2+n)]), n); ok && n > 0 {
				if out == nil {
					out = append(make([]byte, 0, len(text)), text[:i]...)
				}
				out = utf8.AppendRune(out, v)
				i += 1 + n
				continue
			}
		}
		if out != nil {
			out = append(out, text[i])
		}
	}
	return out
}

// decodedWords decodes the words in base64 and in hexadecimal digits that are texts.
func decodedWords(text []byte, each func([]byte)) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && inBase64(text[i]) {
			i++
		}
		if i-start < min(shortestBase64, shortestHex) {
			continue
		}
		word := text[start:i]
		if d := fromBase64(word); d != nil {
			each(d)
		}
		if d := fromHex(word); d != nil {
			each(d)
		}
	}
}

func inBase64(c byte) bool {
	return classes[c]&alnum != 0 || c == '+' || c == '/' || c == '-' || c == '_'
}

func fromBase64(word []byte) []byte {
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(word, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(word)%4 == 1 {
		word = word[:len(word)-1]
	}
	var head [6]byte
	if _, err := encoding.Decode(head[:], word[:8]); err != nil || !isText(head[:], true) {
		return nil
	}
	out := make([]byte, encoding.DecodedLen(len(word)))
	n, err := encoding.Decode(out, word)
	if err != nil || !isText(out[:n], false) {
		return nil
	}
	return out[:n]
}

func fromHex(word []byte) []byte {
	if len(word) < shortestHex || len(word)%2 != 0 {
		return nil
	}
	for _, c := range word[:shortestHex] {
		if classes[c] != digit && (c|0x20 < 'a' || c|0x20 > 'f') {
			return nil
		}
	}
	out := make([]byte, len(word)/2)
	if _, err := hex.Decode(out, word); err != nil || !isText(out, false) {
		return nil
	}
	return out
}

// isText reports whether bytes are text. cut allows for an incomplete character at the end.
func isText(b []byte, cut bool) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return cut && !utf8.FullRune(b)
		}
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
		b = b[size:]
	}
	return true
}
