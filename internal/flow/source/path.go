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

// paths calls each for everything in a text that can be a path: cleaned, folded, with slashes. In a
// long text, such as the content of a file, a name without a slash is none.
func paths(text []byte, each func(p string)) {
	wanted := uint8(slashes)
	if len(text) <= 4096 {
		wanted |= dots
	}
	for start := 0; start < len(text); start++ {
		i, has := start, uint8(0)
		for ; i < len(text) && pathBytes[text[i]] != delimits; i++ {
			has |= pathBytes[text[i]]
		}
		if has&wanted != 0 {
			onePath(string(text[start:i]), each)
		}
		start = i
	}
}

func onePath(s string, each func(p string)) {
	s = strings.TrimPrefix(strings.ToLower(s), "file://")
	if p := path.Clean(strings.ReplaceAll(s, `\`, "/")); strings.Trim(p, "./") != "" || p == "/" || p == "." {
		each(p)
	}
}
