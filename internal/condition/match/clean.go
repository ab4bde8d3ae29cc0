package match

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// Clean removes from a path what has no meaning: repeated separators, inner "."
// and "x/.." (K4). An absolute path stays absolute, a trailing "/" and a leading
// "./" stay, so that no option, command lookup or directory becomes something
// else. Cleaning twice changes nothing.
//
// plain reports that the path is plainly written: nobody reads another
// path in it and it does not climb above where it starts. Only such a path
// satisfies a permissive condition.
func Clean(path string) (cleaned string, plain bool) {
	if path == "" {
		return "", false
	}
	value := []byte(path)
	canonical, _ := appendCanonical(make([]byte, 0, len(path)+2), value)
	out := string(canonical)
	switch {
	case out == "":
		out = "."
	case bytes.HasPrefix(value, []byte("./")) && !bytes.HasPrefix(canonical, []byte("..")):
		out = "./" + out
	}
	if endsAsDirectory(value) && out[len(out)-1] != '/' {
		out += "/"
	}
	return out, isPlain(value)
}

// endsAsDirectory reports that the last component is empty, or a "." or ".." that
// says something about the one before.
func endsAsDirectory(value []byte) bool {
	at := bytes.LastIndexByte(value, '/')
	if at < 0 {
		return false
	}
	last := string(value[at+1:])
	return last == "" || last == "." || last == ".."
}

// lexical is what cleaning learned about a path.
type lexical struct {
	absolute bool
	climbs   bool // above its start, or above "/"
	ups      int  // leading ".." of a relative path
	lowest   int  // the smallest depth that a ".." led to
	high     bool // has code points above ASCII
	upper    bool // has capital letters of ASCII
	wild     bool // has bytes that some tools expand
}

// untouched is the lowest depth of a path without "..".
const untouched = 1 << 30

// appendCanonical appends the form in which paths are compared: components
// joined by "/", with a leading "/" if the path is absolute and leading ".." if
// it climbs. The start itself is "".
func appendCanonical(dst, path []byte) ([]byte, lexical) {
	info := lexical{absolute: len(path) > 0 && path[0] == '/', lowest: untouched}
	base := len(dst)
	if info.absolute {
		dst = append(dst, '/')
		base++
	}
	depth := 0
	for len(path) > 0 {
		var c []byte
		if at := bytes.IndexByte(path, '/'); at >= 0 {
			c, path = path[:at], path[at+1:]
		} else {
			c, path = path, nil
		}
		switch {
		case len(c) == 0 || string(c) == ".":
		case string(c) != "..":
			dst = appendComponent(dst, base, c)
			depth++
		case depth > 0:
			dst = dst[:max(base, bytes.LastIndexByte(dst[base:], '/')+base)]
			depth--
			info.lowest = min(info.lowest, depth)
		default:
			info.climbs = true
			if !info.absolute {
				dst = appendComponent(dst, base, c)
				info.ups++
			}
		}
	}
	return dst, info
}

func appendComponent(dst []byte, base int, c []byte) []byte {
	if len(dst) > base {
		dst = append(dst, '/')
	}
	return append(dst, c...)
}

// Classes of bytes in a path, as bits; most bytes have none.
const (
	byteSlash uint8 = 1 << iota // separates components
	byteEdge                    // not at the end of a component, where some readers drop it
	byteTilde
	byteHigh  // part of a code point above ASCII
	byteUpper // of ASCII
	byteWild  // expanded by some tools
	byteNever
	byteDevice // a letter that a name of a device begins with, in either case
)

var pathBytes = func() (t [256]uint8) {
	for b := range t {
		switch {
		case b >= utf8.RuneSelf:
			t[b] = byteHigh
		case b < ' ' || b == 0x7F || bytes.IndexByte([]byte(`\:$%;`), byte(b)) >= 0:
			t[b] = byteNever
		case bytes.IndexByte([]byte(" .\"'`"), byte(b)) >= 0:
			t[b] = byteEdge
		case b == '/':
			t[b] = byteSlash
		case bytes.IndexByte([]byte(wildcards), byte(b)) >= 0:
			t[b] = byteWild
		case b == '~':
			t[b] = byteTilde
		case 'A' <= b && b <= 'Z':
			t[b] = byteUpper
		}
	}
	for _, b := range []byte("cpanlCPANL") {
		t[b] |= byteDevice
	}
	return t
}()

// survey looks at every byte of a path once. ordinary says that all components are plain
// and stay as they are when the path is cleaned, but for what the classes of its bytes
// say; of any other path it says nothing.
func survey(path []byte) (has uint8, ordinary bool) {
	if namesDevice(path) {
		return 0, false
	}
	last := len(path) - 1
	for i, b := range path {
		class := pathBytes[b]
		switch has |= class; class & (byteSlash | byteEdge) {
		case byteSlash:
			if i == last || path[i+1] == '/' || namesDevice(path[i+1:]) {
				return 0, false
			}
		case byteEdge:
			if i == 0 || i == last || path[i-1] == '/' || path[i+1] == '/' {
				return 0, false
			}
		}
	}
	return has, true
}

// examine returns the canonical form of a path, in dst or in the path itself, and
// whether the path is plainly written: beyond lexical cleaning no known tool reads
// another path in it (C2-C19). Whether the tool expands wildcards (C15), and where
// the root is, is not known here. Of a path that is not plain only that is said.
func examine(dst, path []byte) (canonical []byte, info lexical, plain bool) {
	if len(path) == 0 || len(path) > 1 && path[0] == '/' && path[1] == '/' {
		return nil, info, false
	}
	has, ordinary := survey(path)
	if ordinary && has&(byteNever|byteHigh|byteTilde) == 0 {
		info = lexical{absolute: path[0] == '/', lowest: untouched, upper: has&byteUpper != 0, wild: has&byteWild != 0}
		return path, info, path[0] != '-' && !(info.absolute && isSystem(path))
	}
	return examineComponents(dst, path)
}

// examineComponents is [examine] component by component.
func examineComponents(dst, path []byte) (canonical []byte, info lexical, plain bool) {
	var has uint8
	unclean, start := false, 0
	for i, b := range path {
		class := pathBytes[b]
		if has |= class; class == byteSlash {
			ok, clean := examineComponent(path[start:i])
			if !ok {
				return nil, info, false
			}
			unclean = unclean || !clean && i > 0
			start = i + 1
		}
	}
	ok, clean := examineComponent(path[start:])
	switch {
	case !ok, has&byteNever != 0, has&byteHigh != 0 && !plainUnicode(path), has&byteTilde != 0 && !plainTildes(path):
		return nil, info, false
	}
	if unclean || !clean && string(path) != "/" {
		canonical, info = appendCanonical(dst, path)
	} else {
		canonical, info = path, lexical{absolute: path[0] == '/', lowest: untouched}
	}
	info.high, info.upper, info.wild = has&byteHigh != 0, has&byteUpper != 0, has&byteWild != 0
	switch {
	case info.climbs, isSystem(canonical):
		return nil, info, false
	case len(canonical) > 0 && (canonical[0] == '-' || canonical[0] == '~') && !bytes.HasPrefix(path, []byte("./")):
		return nil, info, false
	}
	return canonical, info, true
}

// plainTildes reports that no tilde stands for a home directory or numbers a short name.
func plainTildes(path []byte) bool {
	for i, b := range path {
		if b == '~' && (i == 0 || i+1 < len(path) && '0' <= path[i+1] && path[i+1] <= '9') {
			return false
		}
	}
	return true
}

// isPlain reports that a path is plainly written.
func isPlain(path []byte) bool {
	var buf [256]byte
	_, _, plain := examine(buf[:0], path)
	return plain
}

// examineComponent reports that nothing is dropped from the ends of a component
// and that it is no device name (C8, C9), and whether cleaning would keep it.
func examineComponent(c []byte) (plain, clean bool) {
	if len(c) == 0 {
		return true, false
	}
	if pathBytes[c[len(c)-1]] == byteEdge {
		dots := string(c) == "." || string(c) == ".."
		return dots, false
	}
	if first := c[0]; first != '.' && pathBytes[first] == byteEdge {
		return false, true
	}
	return !isDevice(c), true
}

// mayBeDevice reports a text that begins as names of devices do.
func mayBeDevice(c []byte) bool {
	if len(c) < 3 || pathBytes[c[0]]&byteDevice == 0 {
		return false
	}
	switch [2]byte{c[0] | 0x20, c[1] | 0x20} { // in lower case
	case [2]byte{'c', 'o'}, [2]byte{'p', 'r'}, [2]byte{'a', 'u'}, [2]byte{'n', 'u'}, [2]byte{'l', 'p'}:
		return true
	}
	return false
}

// namesDevice reports a path whose first component is the name of a device.
func namesDevice(path []byte) bool {
	if !mayBeDevice(path) {
		return false
	}
	c, _, _ := bytes.Cut(path, separator)
	return isDevice(c)
}

// isDevice reports a name that Windows keeps for a device, whatever follows the
// first dot.
func isDevice(c []byte) bool {
	if !mayBeDevice(c) {
		return false
	}
	if at := bytes.IndexByte(c, '.'); at >= 0 {
		c = c[:at]
	}
	c = bytes.TrimRight(c, " ")
	if len(c) < 3 || len(c) > 7 {
		return false
	}
	var lower [7]byte
	for i, b := range c {
		lower[i] = lowerASCII(b)
	}
	switch name := string(lower[:len(c)]); name {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	default:
		if name[:3] != "com" && name[:3] != "lpt" {
			return false
		}
		switch name[3:] {
		case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
			return true
		}
	}
	return false
}

// isSystem reports an absolute canonical path below /proc or /dev, where names
// lead elsewhere (C19).
func isSystem(canonical []byte) bool {
	for _, dir := range [...]string{"/proc", "/dev"} {
		if rest, ok := bytes.CutPrefix(canonical, []byte(dir)); ok && (len(rest) == 0 || rest[0] == '/') {
			return true
		}
	}
	return false
}

// plainUnicode reports that a path with code points above ASCII is its own
// compatibility form and has nothing invisible or deceptive in it (C7, C16).
func plainUnicode(path []byte) bool {
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRune(path[i:])
		i += size
		if r >= utf8.RuneSelf && (invisible(r) || lookalike(r) != r || whiteSpace.Contains(r) || r == utf8.RuneError) {
			return false
		}
	}
	return norm.NFKC.IsNormal(path)
}

// invisible reports a code point that is not drawn, or that changes how others
// are drawn: controls, format characters, variation selectors, fillers.
func invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7F
	}
	return r == glob.Root || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// lookalike maps what some reader takes for a separator, and is not brought there
// by compatibility normalisation, to the separator.
func lookalike(r rune) rune {
	switch r {
	case '\u2044', '\u2215', '\u29F8', '\u2571', '\u27CB':
		return '/'
	case '\u2216', '\u29F5', '\u29F9', '\u27CD', '\u2572':
		return '\\'
	}
	return r
}
