package source

import (
	"path"
	"strings"
)

// The classes of the bytes of a text in which paths are found.
const (
	delimits = 1 << iota // ends a path
	slashes              // makes a word a path
	dots                 // does so in a short text
)

var pathBytes = func() (classes [256]uint8) {
	for _, c := range []byte(" \t\r\n\"'`;|&<>()[]{}=,") {
		classes[c] = delimits
	}
	for _, c := range []byte(`/\~`) {
		classes[c] = slashes
	}
	classes['.'] = dots
	return classes
}()

// paths calls each for everything in a text that can be a path: cleaned, folded, with slashes.
func paths(text []byte, each func(p string)) {
	pathWords(text, func(word []byte) { onePath(string(word), each) })
}

// pathWords calls each for the words of a text that can be paths. In a long text, such as the content
// of a file, a name without a slash is none.
func pathWords(text []byte, each func(word []byte)) {
	wanted := uint8(slashes)
	if len(text) <= 4096 {
		wanted |= dots
	}
	for i, last := 0, 0; ; {
		for i < len(text) && pathBytes[text[i]]&wanted == 0 {
			i++
		}
		if i == len(text) {
			return
		}
		start := i
		for start > last && pathBytes[text[start-1]] != delimits {
			start--
		}
		for i < len(text) && pathBytes[text[i]] != delimits {
			i++
		}
		each(text[start:i])
		last = i
	}
}

func onePath(s string, each func(p string)) {
	s = strings.TrimPrefix(strings.ToLower(s), "file://")
	if p := path.Clean(strings.ReplaceAll(s, `\`, "/")); strings.Trim(p, "./") != "" || p == "/" || p == "." {
		each(p)
	}
}
