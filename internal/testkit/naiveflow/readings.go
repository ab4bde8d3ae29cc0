package naiveflow

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// lookalikes are the letters that the tests write for letters of ASCII.
var lookalikes = strings.NewReplacer("а", "a", "е", "e", "о", "o", "с", "c", "р", "p", "х", "x", "і", "i", "ѕ", "s")

// decoded lists everything that a text could mean after one step of decoding.
func decoded(text string) (out []string) {
	add := func(s string) {
		if s != text && utf8.ValidString(s) {
			out = append(out, s)
		}
	}
	add(lookalikes.Replace(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))))
	add(turned(text))
	if s, err := url.PathUnescape(text); err == nil {
		add(s)
	}
	add(html.UnescapeString(text))
	add(compiled(`\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}`).ReplaceAllStringFunc(text, func(e string) string {
		v, _ := strconv.ParseUint(e[2:], 16, 32)
		return string(rune(v))
	}))
	for _, word := range compiled(`[A-Za-z0-9+/_-]{8,}={0,2}`).FindAllString(text, -1) {
		for _, d := range [][]byte{fromBase64(word), fromHex(word)} {
			if d != nil && !slices.ContainsFunc([]rune(string(d)), func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) {
				add(strings.Replace(text, word, " "+string(d)+" ", 1))
				add(string(d))
			}
		}
	}
	return out
}

func fromBase64(word string) []byte {
	word = strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(word)
	d, err := base64.RawStdEncoding.DecodeString(word)
	if err != nil {
		return nil
	}
	return d
}

func fromHex(word string) []byte {
	d, err := hex.DecodeString(word)
	if err != nil {
		return nil
	}
	return d
}

// turned reverses what right-to-left overrides reverse.
func turned(text string) string {
	return regexp.MustCompile("\u202e([^\u202c]*)\u202c?").ReplaceAllStringFunc(text, func(part string) string {
		runes := []rune(strings.Trim(part, "\u202e\u202c"))
		slices.Reverse(runes)
		return string(runes)
	})
}

// readings lists a text and everything that it could mean, after some steps of decoding at most.
func readings(text string, steps int) []string {
	all := []string{text}
	for from := 0; steps > 0; steps-- {
		end := len(all)
		for _, s := range all[from:end] {
			for _, d := range decoded(s) {
				if !slices.Contains(all, d) && len(all) < 60 {
					all = append(all, d)
				}
			}
		}
		from = end
	}
	return all
}

// folded is a text in which case and compatibility forms do not count.
func folded(text string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text))) }

// runs lists the runs of letters and digits of a text.
func runs(text string) []string {
	return strings.FieldsFunc(folded(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

func squeezed(text string) string { return strings.Join(runs(text), "") }

// inRow reports whether words are in a row of others.
func inRow(words, row []string) bool {
	for i := 0; i+len(words) <= len(row); i++ {
		if slices.Equal(row[i:i+len(words)], words) {
			return len(words) > 0
		}
	}
	return false
}
