package pathform

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Clean removes the parts of a path that have no meaning: repeated separators, inner "." and "x/.."
// (K4). An absolute path stays absolute; a trailing "/" and a leading "./" are kept, so that the
// result is no option, command name or directory if the path was none. Clean is idempotent.
//
// plain reports whether the path is plainly written: no tool reads it as another path, and it does
// not climb above its start. Only such a path satisfies a permissive condition.
func Clean(path string) (cleaned string, plain bool) {
	if path == "" {
		return "", false
	}
	value := []byte(path)
	canonical, _ := AppendCanonical(make([]byte, 0, len(path)+2), value)
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
	return out, IsPlain(value)
}

// endsAsDirectory reports whether the last component is empty, or a "." or ".." that makes the
// previous one a directory.
func endsAsDirectory(value []byte) bool {
	at := bytes.LastIndexByte(value, '/')
	if at < 0 {
		return false
	}
	last := string(value[at+1:])
	return last == "" || last == "." || last == ".."
}

// Lexical describes the form of a path.
type Lexical struct {
	Absolute bool
	Climbs   bool // above its start, or above "/"
	ups      int  // leading ".." of a relative path
	lowest   int  // the smallest depth after a ".."
	High     bool // has code points above ASCII
	Upper    bool // has ASCII capital letters
	wild     bool // has bytes that some tools expand
}

// untouched is the value of lowest for a path without "..".
const untouched = 1 << 30

// AppendCanonical appends the canonical form of a path, in which paths are compared: components
// joined by "/", with a leading "/" if the path is absolute and leading ".." if it climbs. The
// start itself is "".
func AppendCanonical(dst, path []byte) ([]byte, Lexical) {
	info := Lexical{Absolute: len(path) > 0 && path[0] == '/', lowest: untouched}
	base := len(dst)
	if info.Absolute {
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
			info.Climbs = true
			if !info.Absolute {
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
	ByteEdge                    // dropped at the end of a component by some tools
	byteTilde
	byteHigh  // part of a code point above ASCII
	byteUpper // of ASCII
	byteWild  // expanded by some tools
	ByteNever
	byteDevice // a letter with which a device name begins, in either case
)

var PathBytes = func() (t [256]uint8) {
	for b := range t {
		switch {
		case b >= utf8.RuneSelf:
			t[b] = byteHigh
		case b < ' ' || b == 0x7F || bytes.IndexByte([]byte(`\:$%;`), byte(b)) >= 0:
			t[b] = ByteNever
		case bytes.IndexByte([]byte(" .\"'`"), byte(b)) >= 0:
			t[b] = ByteEdge
		case b == '/':
			t[b] = byteSlash
		case bytes.IndexByte([]byte(Wildcards), byte(b)) >= 0:
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

// survey classifies every byte of a path. ordinary is set if cleaning keeps all components and they
// are plain as far as the classes of their bytes allow; if it is false they may or may not be.
func survey(path []byte) (has uint8, ordinary bool) {
	if namesDevice(path) {
		return 0, false
	}
	last := len(path) - 1
	for i, b := range path {
		class := PathBytes[b]
		switch has |= class; class & (byteSlash | ByteEdge) {
		case byteSlash:
			if i == last || path[i+1] == '/' || namesDevice(path[i+1:]) {
				return 0, false
			}
		case ByteEdge:
			if i == 0 || i == last || path[i-1] == '/' || path[i+1] == '/' {
				return 0, false
			}
		}
	}
	return has, true
}

// ExaminePath returns the canonical form of a path, in dst or in the path itself, and whether the path
// is plainly written: apart from lexical cleaning no known tool reads it as another path (C2-C19).
// It does not consider the root, or whether the tool expands wildcards (C15). If plain is false the
// other results are undefined.
func ExaminePath(dst, path []byte) (canonical []byte, info Lexical, plain bool) {
	if len(path) == 0 || len(path) > 1 && path[0] == '/' && path[1] == '/' {
		return nil, info, false
	}
	has, ordinary := survey(path)
	if ordinary && has&(ByteNever|byteHigh|byteTilde) == 0 {
		info = Lexical{Absolute: path[0] == '/', lowest: untouched, Upper: has&byteUpper != 0, wild: has&byteWild != 0}
		return path, info, path[0] != '-' && !(info.Absolute && isSystem(path))
	}
	return examineComponents(dst, path)
}

// examineComponents is [examine] component by component.
func examineComponents(dst, path []byte) (canonical []byte, info Lexical, plain bool) {
	var has uint8
	unclean, start := false, 0
	for i, b := range path {
		class := PathBytes[b]
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
	case !ok, has&ByteNever != 0, has&byteHigh != 0 && !plainUnicode(path), has&byteTilde != 0 && !plainTildes(path):
		return nil, info, false
	}
	if unclean || !clean && string(path) != "/" {
		canonical, info = AppendCanonical(dst, path)
	} else {
		canonical, info = path, Lexical{Absolute: path[0] == '/', lowest: untouched}
	}
	info.High, info.Upper, info.wild = has&byteHigh != 0, has&byteUpper != 0, has&byteWild != 0
	switch {
	case info.Climbs, isSystem(canonical):
		return nil, info, false
	case len(canonical) > 0 && (canonical[0] == '-' || canonical[0] == '~') && !bytes.HasPrefix(path, []byte("./")):
		return nil, info, false
	}
	return canonical, info, true
}

// plainTildes reports whether no tilde means a home directory or numbers a short name.
func plainTildes(path []byte) bool {
	for i, b := range path {
		if b == '~' && (i == 0 || i+1 < len(path) && '0' <= path[i+1] && path[i+1] <= '9') {
			return false
		}
	}
	return true
}

// IsPlain reports whether a path is plainly written.
func IsPlain(path []byte) bool {
	var buf [256]byte
	_, _, plain := ExaminePath(buf[:0], path)
	return plain
}

// examineComponent reports whether a component is plain, that is, no tool drops characters at its
// ends and it is no device name (C8, C9), and whether cleaning keeps it.
func examineComponent(c []byte) (plain, clean bool) {
	if len(c) == 0 {
		return true, false
	}
	if PathBytes[c[len(c)-1]] == ByteEdge {
		dots := string(c) == "." || string(c) == ".."
		return dots, false
	}
	if first := c[0]; first != '.' && PathBytes[first] == ByteEdge {
		return false, true
	}
	return !isDevice(c), true
}

// mayBeDevice reports whether a text begins like a device name.
func mayBeDevice(c []byte) bool {
	if len(c) < 3 || PathBytes[c[0]]&byteDevice == 0 {
		return false
	}
	switch [2]byte{c[0] | 0x20, c[1] | 0x20} { // in lower case
	case [2]byte{'c', 'o'}, [2]byte{'p', 'r'}, [2]byte{'a', 'u'}, [2]byte{'n', 'u'}, [2]byte{'l', 'p'}:
		return true
	}
	return false
}

// namesDevice reports whether the first component of a path is a device name.
func namesDevice(path []byte) bool {
	if !mayBeDevice(path) {
		return false
	}
	c, _, _ := bytes.Cut(path, Separator)
	return isDevice(c)
}

// isDevice reports whether Windows reserves a name for a device, whatever follows the first dot.
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
		lower[i] = spelling.LowerASCII(b)
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

// isSystem reports whether an absolute canonical path is below /proc or /dev, where names refer to
// other files (C19).
func isSystem(canonical []byte) bool {
	for _, dir := range [...]string{"/proc", "/dev"} {
		if rest, ok := bytes.CutPrefix(canonical, []byte(dir)); ok && (len(rest) == 0 || rest[0] == '/') {
			return true
		}
	}
	return false
}

// plainUnicode reports whether a path with code points above ASCII equals its compatibility form
// and has no invisible or deceptive code points (C7, C16).
func plainUnicode(path []byte) bool {
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRune(path[i:])
		i += size
		if r >= utf8.RuneSelf && (spelling.Invisible(r) || spelling.Lookalike(r) != r || spelling.WhiteSpace.Contains(r) || r == utf8.RuneError) {
			return false
		}
	}
	return norm.NFKC.IsNormal(path)
}

var Separator = []byte("/")
