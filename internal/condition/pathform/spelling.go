package pathform

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// The transformations of a path by tools (C8-C14). Each returns the results for one spelling.

// urlPath returns the path of a URL, which a tool may open as a file.
func urlPath(s string) []string {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || len(scheme) < 2 || !spelling.IsScheme(scheme) {
		return nil
	}
	authority := strings.HasPrefix(rest, "//")
	if !authority && !strings.EqualFold(scheme, "file") {
		return nil
	}
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	if authority {
		rest = rest[2:]
		at := strings.IndexByte(rest, '/')
		if at < 0 {
			at = len(rest)
		}
		rest = rest[at:]
	}
	if strings.EqualFold(scheme, "file") {
		return []string{rest}
	}
	return []string{rest, strings.TrimLeft(rest, "/")}
}

// withoutShare drops \\host\share, \\?\ and \\.\ after backslashes became slashes.
func withoutShare(s string) []string {
	rest, ok := strings.CutPrefix(s, "//")
	if !ok {
		return nil
	}
	host, rest, _ := strings.Cut(rest, "/")
	if host == "?" || host == "." {
		_, unc, isUNC := strings.Cut(rest, "UNC/")
		if !isUNC {
			return []string{rest}
		}
		_, rest, _ = strings.Cut(unc, "/")
	}
	_, tail, _ := strings.Cut(rest, "/")
	return []string{"/" + tail, tail}
}

// withoutProcess returns the path after /proc/PID/root and /proc/PID/cwd: relative to the root of
// the file system, and to the directory of a process (C19).
func withoutProcess(s string) []string {
	canonical, _ := AppendCanonical(nil, []byte(s))
	rest, ok := strings.CutPrefix(string(canonical), "/proc/")
	if !ok {
		return nil
	}
	if _, tail, ok := strings.Cut(rest, "/root/"); ok {
		return append(withoutProcess("/"+tail), "/"+tail)
	}
	if _, tail, ok := strings.Cut(rest, "/cwd/"); ok {
		return []string{tail}
	}
	return nil
}

// eachComponent applies f to the parts between slashes.
func eachComponent(s string, f func(string) string) string {
	parts := strings.Split(s, "/")
	for i, p := range parts {
		parts[i] = f(p)
	}
	return strings.Join(parts, "/")
}

func withoutParameters(s string) []string {
	return []string{eachComponent(s, func(c string) string {
		c, _, _ = strings.Cut(c, ";")
		return c
	})}
}

// withoutColon keeps the text before the colon of each component (without a file's stream), and the
// text after the first one (without a drive or host).
func withoutColon(s string) []string {
	at := strings.IndexByte(s, ':')
	if at < 0 || strings.HasPrefix(s[at:], "://") {
		return nil
	}
	stems := eachComponent(s, func(c string) string {
		c, _, _ = strings.Cut(c, ":")
		return c
	})
	return []string{stems, s[at+1:], strings.TrimLeft(s[at+1:], `/\`)}
}

// trimmedComponents removes the quotes and spaces around each component and the dots and spaces at
// its end.
func trimmedComponents(s string) []string {
	return []string{eachComponent(s, func(c string) string {
		c = strings.TrimFunc(c, spelling.IsEdge)
		if c == "." || c == ".." {
			return c
		}
		stem := strings.TrimRightFunc(c, func(r rune) bool { return r == '.' || spelling.IsEdge(r) })
		if stem == "" && strings.HasPrefix(c, "..") {
			return ".."
		}
		return stem
	})}
}

// atHome expands a leading ~ and every variable: to the home directory if it is meant and known, to
// "" otherwise.
func atHome(s, home string) []string {
	if rest, ok := strings.CutPrefix(s, "~"); ok {
		user, tail, _ := strings.Cut(rest, "/")
		if user == "" && home != "" {
			return []string{home + "/" + tail}
		}
		return []string{tail, "/" + tail}
	}
	expanded, other := expandVariables(s, home)
	if expanded == s {
		return nil
	}
	if other {
		return []string{expanded, strings.TrimLeft(expanded, "/")}
	}
	return []string{expanded}
}

// expandVariables replaces $NAME, ${NAME}, $env:NAME and %NAME%. other reports whether a variable
// has an unknown value, which is replaced by "".
func expandVariables(s, home string) (expanded string, other bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		name, length := variable(s[i:])
		if length == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		i += length
		switch strings.ToUpper(name) {
		case "HOME", "USERPROFILE", "HOMEPATH":
			b.WriteString(home)
			other = other || home == ""
		default:
			other = true
		}
	}
	return b.String(), other
}

// variable returns the variable at the start of s; length 0 if there is none.
func variable(s string) (name string, length int) {
	switch s[0] {
	case '%':
		if end := nameEnd(s, 1); end > 1 && end < len(s) && s[end] == '%' {
			return s[1:end], end + 1
		}
	case '$':
		start := 1
		braced := strings.HasPrefix(s[1:], "{")
		if braced {
			start++
		}
		if len(s) >= start+4 && strings.EqualFold(s[start:start+4], "env:") {
			start += 4
		}
		end := nameEnd(s, start)
		if braced {
			at := strings.IndexByte(s, '}')
			if at < 0 {
				return "", 0
			}
			return s[start:min(end, at)], at + 1
		}
		if end > start {
			return s[start:end], end
		}
	}
	return "", 0
}

// nameEnd returns the end of the variable name that starts at from.
func nameEnd[T string | []byte](s T, from int) int {
	end := from
	for end < len(s) {
		c := spelling.LowerASCII(s[end])
		if c != '_' && (c < 'a' || c > 'z') && (end == from || c < '0' || c > '9') {
			break
		}
		end++
	}
	return end
}

// longNames expands short names such as GIT~1: the name without its number, with and without a
// leading dot.
func longNames(s string) []string {
	long := func(dot string) string {
		return eachComponent(s, func(c string) string {
			at := strings.IndexByte(c, '~')
			if at <= 0 || at+1 == len(c) || c[at+1] < '0' || c[at+1] > '9' {
				return c
			}
			return dot + c[:at] + strings.TrimLeft(c[at+1:], "0123456789")
		})
	}
	if plain := long(""); plain != s {
		return []string{plain, long(".")}
	}
	return nil
}
