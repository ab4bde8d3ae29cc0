package eval

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// reading is a text that a string may mean, and its possible types.
type reading struct {
	text []byte
	as   reads
}

// Limits of the readings of a string.
const (
	maxSuspectedText = 4096     // bytes of one line: no path is longer
	maxSuspectedJSON = 64 << 10 // bytes of a JSON text in a string
	maxSuspectedDeep = 3        // nesting depth of JSON texts and key=value
	maxSuspectedKey  = 64       // bytes of the key in key=value
)

// startsJSON are the first bytes of the JSON texts that may have strings.
const startsJSON = `{["`

// plausible returns the readings of a string: itself, the path of a URI, the value of key=value,
// and the strings of a JSON text. A text of several lines, or longer than a path can be, is prose.
func plausible(to []reading, text []byte, depth int) []reading {
	line := bytes.TrimSpace(text)
	if depth < maxSuspectedDeep && len(line) > 1 && len(line) <= maxSuspectedJSON && bytes.IndexByte([]byte(startsJSON), line[0]) >= 0 {
		if v, err := jsonstream.Parse(line, jsonstream.Options{}); err == nil {
			to = leavesOf(to, v, depth+1)
		}
	}
	if len(line) == 0 || len(line) > maxSuspectedText || bytes.ContainsAny(line, "\r\n") {
		return to
	}
	as := asPath | asCommand | asURL
	scheme, rest := cutScheme(line)
	if (isRemote(scheme) || line[0] == '!') && !bytes.Contains(line, []byte("..")) {
		as &^= asPath // an address, or an exclusion of a search, unless it climbs to another path
	}
	to = append(to, reading{text, as})
	if len(line) != len(text) {
		to = append(to, reading{line, as})
	}
	if rest != nil && as&asPath != 0 {
		to = pathsOf(to, rest)
	}
	if key, value, ok := bytes.Cut(line, []byte("=")); ok && depth < maxSuspectedDeep && isKey(key) {
		to = plausible(to, value, depth+1)
	}
	return to
}

// isProse reports whether the start of a string shows that plausible finds no reading of it: it
// has several lines and is no JSON text. The rest of a long text need not be decoded then.
func isProse(v jsonstream.Value) bool {
	if len(v.Raw()) <= maxSuspectedText {
		return false
	}
	for start := range v.TextParts(make([]byte, 0, 1024)) {
		for len(start) > 0 && start[len(start)-1] >= utf8.RuneSelf {
			start = start[:len(start)-1] // the part may end inside a space
		}
		line := bytes.TrimSpace(start)
		return len(line) > 0 && bytes.IndexByte([]byte(startsJSON), line[0]) < 0 && bytes.ContainsAny(line, "\r\n")
	}
	return false
}

// pathsOf returns the possible paths in the part of a URI after its scheme: with and without an
// authority, and without query and fragment.
func pathsOf(to []reading, rest []byte) []reading {
	forms := [][]byte{rest}
	if after, ok := bytes.CutPrefix(rest, []byte("//")); ok {
		forms = [][]byte{after}
		if i := bytes.IndexByte(after, '/'); i > 0 {
			forms = append(forms, after[i:])
		}
	}
	for _, f := range forms {
		to = append(to, reading{f, asPath})
		if i := bytes.IndexAny(f, "?#"); i >= 0 {
			to = append(to, reading{f[:i], asPath})
		}
	}
	return to
}

// cutScheme returns the text after the scheme of a URI; rest is nil if it has none. A single letter
// is a drive.
func cutScheme(text []byte) (scheme string, rest []byte) {
	before, after, ok := bytes.Cut(text, []byte(":"))
	if !ok || len(before) < 2 || len(before) > maxSuspectedKey || !isLetter(before[0]) || slices.ContainsFunc(before, func(c byte) bool {
		return !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.'
	}) {
		return "", nil
	}
	return string(bytes.ToLower(before)), after
}

// isRemote reports whether a scheme is for addresses outside of any file system.
func isRemote(scheme string) bool {
	return slices.Contains([]string{"http", "https", "ws", "wss", "ftp", "ftps"}, scheme)
}

// isKey reports whether a text is the name in key=value.
func isKey(key []byte) bool {
	return len(key) > 0 && len(key) <= maxSuspectedKey && !slices.ContainsFunc(key, func(c byte) bool {
		return !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '.'
	})
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
