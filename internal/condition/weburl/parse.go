package weburl

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Address is a URL that every parser reads in the same way, as parts of the value.
type Address struct {
	Scheme, Host, Port []byte
	Path               []byte // "" or from the first "/" on
	Rest               []byte // query and fragment, from "?" or "#" on
	HasHost            bool
}

// urlBytes are the bytes that are literal in a URL.
var urlBytes = func() (t [256]bool) {
	for b := '!'; b < 0x7F; b++ {
		t[b] = !strings.ContainsRune("\\\"<>^`{|}", b)
	}
	return t
}()

// Parse parses a URL strictly: ASCII, a scheme, and if it has an authority one host in its usual
// spelling, no user, a plain port. ok is false for everything that parsers read differently (K59).
func Parse(value []byte) (u Address, ok bool) {
	for _, b := range value {
		if !urlBytes[b] {
			return u, false
		}
	}
	colon := bytes.IndexByte(value, ':')
	if colon < 1 || !spelling.IsScheme(string(value[:colon])) {
		return u, false
	}
	u.Scheme = value[:colon]
	rest, hasHost := bytes.CutPrefix(value[colon+1:], []byte("//"))
	if !hasHost {
		_, special := DefaultPort(u.Scheme)
		u.Path = rest
		return u, !special
	}
	end := bytes.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, after := rest[:end], rest[end:]
	if len(authority) == 0 && EqualFold(u.Scheme, "file") {
		u.Path = after
		return u, true
	}
	if end = bytes.IndexAny(after, "?#"); end < 0 {
		end = len(after)
	}
	u.Path, u.Rest, u.HasHost = after[:end], after[end:], true
	if len(u.Path) == 0 && bytes.IndexByte(u.Rest, '@') >= 0 {
		return u, false // a parser that searches the first "/" finds a user
	}
	u.Host, u.Port, ok = splitHost(authority)
	return u, ok
}

// splitHost checks an authority without a user.
func splitHost(authority []byte) (host, port []byte, ok bool) {
	host = authority
	if at := bytes.LastIndexByte(authority, ':'); at >= 0 && !bytes.HasSuffix(authority, []byte("]")) {
		host, port = authority[:at], authority[at+1:]
		if !IsPort(port) {
			return host, port, false
		}
	}
	return host, port, IsHost(host)
}

// IsPort reports whether a port is a number from 1 to 65535 without leading zeros.
func IsPort(port []byte) bool {
	n := 0
	for _, b := range port {
		if b < '0' || b > '9' || n > 65535 {
			return false
		}
		n = 10*n + int(b-'0')
	}
	return n > 0 && n <= 65535 && port[0] != '0'
}

// IsHost reports whether a text is a host name in ASCII, or an address in its canonical spelling.
func IsHost(host []byte) bool {
	if inner, ok := bytes.CutPrefix(host, []byte("[")); ok {
		inner, ok = bytes.CutSuffix(inner, []byte("]"))
		a, err := netip.ParseAddr(string(inner))
		return ok && err == nil && a.Is6() && !a.Is4In6() && a.Zone() == "" && a.String() == string(inner)
	}
	if len(host) == 0 || len(host) > 253 {
		return false
	}
	label := 0
	for _, b := range host {
		label++
		switch c := spelling.LowerASCII(b); {
		case b == '.' && label > 1:
			label = 0
		case (c < 'a' || c > 'z') && (b < '0' || b > '9') && b != '-' && b != '_', label > 63:
			return false
		}
	}
	if label == 0 {
		return false
	}
	if IsNumeric(host[len(host)-label:]) { // parsers read a numeric last label as an address
		a, err := netip.ParseAddr(string(host))
		return err == nil && a.String() == string(host)
	}
	return true
}

// IsNumeric reports whether a label is a decimal, octal or hexadecimal number.
func IsNumeric(label []byte) bool {
	hex := len(label) > 1 && label[0] == '0' && spelling.LowerASCII(label[1]) == 'x'
	if hex {
		label = label[2:]
	}
	for _, b := range label {
		if c := spelling.LowerASCII(b); (b < '0' || b > '9') && (!hex || c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// DefaultPort returns the port of a scheme whose URLs always have a host.
func DefaultPort(scheme []byte) (port string, special bool) {
	var buf [8]byte
	switch string(appendLower(buf[:0], scheme)) {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	}
	return "", false
}

// IsPlainURLPath reports whether every server reads a path in the same way: no dot or empty
// components, no parameters, no encoding of them.
func IsPlainURLPath(path []byte) bool {
	if bytes.Contains(path, []byte("//")) || bytes.IndexByte(path, ';') >= 0 {
		return false
	}
	for rest := path; len(rest) > 0; {
		var c []byte
		c, rest, _ = bytes.Cut(rest, []byte("/"))
		if string(c) == "." || string(c) == ".." {
			return false
		}
	}
	for i, b := range path {
		if b != '%' {
			continue
		}
		v, ok := spelling.HexValue(string(path[i+1:]), 2)
		if !ok || v <= ' ' || v >= 0x7F || strings.ContainsRune(`./\%;?#`, v) {
			return false
		}
	}
	return true
}

// EqualFold compares bytes with a text without regard to case.
func EqualFold(b []byte, s string) bool { return strings.EqualFold(string(b), s) }

// appendLower appends text with its ASCII letters in lower case.
func appendLower(dst, text []byte) []byte {
	for _, b := range text {
		dst = append(dst, spelling.LowerASCII(b))
	}
	return dst
}
