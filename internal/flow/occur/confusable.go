package occur

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// confusables returns the characters that look like a letter of ASCII: those of scripts that are
// written from left to right, as fonts for text draw them. The list is in the order of the alphabet.
func confusables() map[rune]byte {
	m := map[rune]byte{}
	for i, list := range [...]string{
		"аАαΑɑᴀ", "ЬьƄƅВвΒβʙ", "сСϲϹᴄɔ", "ԁɗᴅժ", "еЕєҽΕεᴇ", "ƒϜꜰ", "ɡɢցԌ", "һҺհНнΗʜ", "іІıɩιΙӀ", "јЈϳᴊɟ", "κкКΚᴋ", "ӏǀɭʟⅼ|Ɩ", "мМΜᴍ",
		"пΝηոռɴ", "оОοΟօჿᴏσ", "рРρΡᴘ", "ԛգզ", "гɼʀᴦ", "ѕЅꜱʂ", "тТτΤᴛ", "υսᴜʋՍ", "ѵνᴠѴ", "ԝѡωшաᴡ", "хХχΧᚷ", "уУγүҮΥʏ", "ᴢΖʐᶻ",
	} {
		for _, r := range list {
			if r >= utf8.RuneSelf {
				m[r] = byte('a' + i)
			}
		}
	}
	return m
}

// confusable returns the letter of ASCII that a character looks like, 0 if there is none.
func confusable(r rune) byte {
	if r < 0x600 {
		return tables().confusable[r]
	}
	return tables().confusables[r]
}

// alike reports whether a letter is drawn like one of ASCII in nearly every font. A word of those
// alone could be meant as one of ASCII.
func alike(r rune) bool {
	switch r {
	case 'а', 'с', 'е', 'о', 'р', 'х', 'у', 'і', 'ј', 'ѕ', 'ԁ', 'һ', 'ԛ', 'ԝ', 'ӏ', 'ο', 'ν', 'ϲ', 'ϳ', 'օ', 'ս', 'հ', 'ց', 'ո':
		return true
	}
	return false
}

// skeleton returns a text as it looks: without invisible characters and accents, with letters of
// ASCII for those that look like them.
func skeleton(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != 0x7F || classes[c] == white {
				out = append(out, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		c := confusable(r)
		switch r = spelling.Lookalike(r); {
		case c != 0:
			out = append(out, c)
		case spelling.Invisible(r) && !spelling.IsWhite(r):
		case r == '。' || r == '·' || r == '․' || r == '‧':
			out = append(out, '.')
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		default:
			out = appendBase(out, text[i:i+size])
		}
		i += size
	}
	return out
}

// appendBase appends the letter of ASCII below the accents of a character, or the character.
func appendBase(dst, char []byte) []byte {
	r, _ := utf8.DecodeRune(char)
	if unicode.Is(unicode.Mn, r) && len(dst) > 0 && dst[len(dst)-1] < utf8.RuneSelf {
		return dst
	}
	if d := norm.NFD.Properties(char).Decomposition(); len(d) > 1 && d[0] < utf8.RuneSelf {
		return append(dst, d[0])
	}
	return append(dst, char...)
}

// turned returns a text with the parts reversed that right-to-left overrides reverse, nil if it has
// none.
func turned(text []byte) []byte {
	const override, pop = "\u202e", "\u202c"
	if !bytes.Contains(text, []byte(override)) {
		return nil
	}
	var out []byte
	for {
		before, after, ok := bytes.Cut(text, []byte(override))
		out = append(out, before...)
		if !ok {
			return out
		}
		inside, rest, _ := bytes.Cut(after, []byte(pop))
		for len(inside) > 0 {
			_, size := utf8.DecodeLastRune(inside)
			out = append(out, inside[len(inside)-size:]...)
			inside = inside[:len(inside)-size]
		}
		text = rest
	}
}
