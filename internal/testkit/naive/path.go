package naive

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// clean resolves ".", ".." and repeated separators. What climbs above the start
// keeps its leading "..".
func clean(path string) string {
	var kept []string
	absolute := strings.HasPrefix(path, "/")
	for _, c := range strings.Split(path, "/") {
		switch {
		case c == "" || c == ".":
		case c == ".." && len(kept) > 0 && kept[len(kept)-1] != "..":
			kept = kept[:len(kept)-1]
		case c == ".." && absolute:
		default:
			kept = append(kept, c)
		}
	}
	joined := strings.Join(kept, "/")
	switch {
	case absolute:
		return "/" + joined
	case joined == "":
		return "."
	}
	return joined
}

// under reports whether path is base or lies below it, by whole components.
func under(base, path string) bool {
	base = strings.TrimSuffix(base, "/")
	return path == base || strings.HasPrefix(path, base+"/")
}

// absolute gives the absolute form of a path under the root, "" without a root.
func (p *Policy) absolute(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	if p.Root == "" {
		return ""
	}
	return clean(p.Root + "/" + path)
}

// relative gives a path as seen from the root, "" if it is not below it.
func (p *Policy) relative(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	if p.Root == "" || !under(p.Root, path) {
		return ""
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(path, p.Root), "/")
	if rest == "" {
		return "."
	}
	return rest
}

// plainPath reports whether a path is written so that every reader reads the
// same (C1 to C19, the column of permissive rules).
func plainPath(path string) bool {
	if path == "" || clean(path) == "." || clean(path) == "/" || strings.HasPrefix(path, "-") || strings.HasPrefix(path, "~") || !norm.NFC.IsNormalString(path) {
		return false
	}
	for _, c := range path {
		if isControl(c) || isZeroWidth(c) || strings.ContainsRune(`\$%;:`, c) {
			return false
		}
	}
	for _, c := range strings.Split(path, "/") {
		if strings.Trim(c, ".") == "" && c != "" && c != "." && c != ".." {
			return false
		}
		if c != "" && c != "." && c != ".." && (strings.ContainsAny(c[len(c)-1:], `. "'`) || strings.ContainsAny(c[:1], ` "'`)) {
			return false
		}
		if i := strings.IndexByte(c, '~'); i >= 0 && i+1 < len(c) && '0' <= c[i+1] && c[i+1] <= '9' {
			return false
		}
		stem, _, _ := strings.Cut(strings.ToUpper(c), ".")
		for _, device := range []string{"CON", "PRN", "AUX", "NUL", "COM1", "LPT1"} {
			if stem == device {
				return false
			}
		}
	}
	cleaned := clean(path)
	return cleaned != ".." && !strings.HasPrefix(cleaned, "../") && !under("/proc", cleaned) && !under("/dev", cleaned)
}

func (p *Policy) matchesPath(kind, literal, value string, permissive bool) bool {
	if kind == "outside" {
		return p.leaves(literal, value)
	}
	if permissive {
		return plainPath(value) && p.compare(kind, literal, clean(value), false)
	}
	for _, r := range p.readings(value) {
		if p.compare(kind, literal, r, true) {
			return true
		}
	}
	return false
}

// leaves reports that something a path may mean lies outside of a place.
func (p *Policy) leaves(place, value string) bool {
	inside := func(path string) bool { return p.compare("glob", place, path, false) }
	if plainPath(value) {
		return !inside(clean(value))
	}
	for _, r := range p.readings(value) {
		if !inside(r) {
			return true
		}
	}
	return false
}

// readings lists what a path may mean to somebody (C1 to C19, the column of
// restrictive rules): each step is applied to everything found before it.
func (p *Policy) readings(value string) []string {
	all := []string{value}
	for _, step := range []func(string) string{
		withoutInvisible, beforeNUL, pathOfURL, unescaped, unescaped, slashed, p.fromHome,
		eachName(beforeSemicolon), behindColon, behindDrive, namesBeforeColon, eachName(trimmedEnd), compose,
	} {
		for _, r := range all {
			if next := step(r); !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	for i, r := range all {
		all[i] = clean(r)
	}
	return all
}

func withoutInvisible(r string) string {
	return strings.Map(func(c rune) rune {
		if isControl(c) || isZeroWidth(c) {
			return -1
		}
		return c
	}, r)
}

func beforeNUL(r string) string { before, _, _ := strings.Cut(r, "\x00"); return before }

func beforeSemicolon(c string) string { before, _, _ := strings.Cut(c, ";"); return before }

func slashed(r string) string { return strings.ReplaceAll(r, `\`, "/") }

func trimmedEnd(c string) string { return strings.TrimRight(c, `. "'`) }

func pathOfURL(r string) string {
	if u, err := url.Parse(r); err == nil && u.Scheme != "" && u.Path != "" {
		return u.Path
	}
	return r
}

func unescaped(r string) string {
	if d, err := url.PathUnescape(r); err == nil {
		return d
	}
	return r
}

func (p *Policy) fromHome(r string) string {
	for _, name := range []string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(r, name); ok && p.Home != "" && (rest == "" || rest[0] == '/') {
			return p.Home + rest
		}
	}
	return r
}

// eachName applies an edit to the components that are names.
func eachName(edit func(string) string) func(string) string {
	return func(r string) string {
		parts := strings.Split(r, "/")
		for i, c := range parts {
			if strings.Trim(c, ".") != "" {
				parts[i] = edit(c)
			}
		}
		return strings.Join(parts, "/")
	}
}

// afterColon is what stands behind a stream's, a drive's or a host's colon; a URL's
// scheme is none of these (C9, C10, C14).
func afterColon(r string) (behind string, ok bool) {
	_, behind, ok = strings.Cut(r, ":")
	return behind, ok && !strings.HasPrefix(behind, "//")
}

func behindColon(r string) string {
	if behind, ok := afterColon(r); ok {
		return behind
	}
	return r
}

// behindDrive is for who drops a drive with its root, and reads a relative path.
func behindDrive(r string) string {
	if behind, ok := afterColon(r); ok {
		return strings.TrimLeft(behind, `/\`)
	}
	return r
}

func namesBeforeColon(r string) string {
	if _, ok := afterColon(r); !ok {
		return r
	}
	parts := strings.Split(r, "/")
	for i, c := range parts {
		parts[i], _, _ = strings.Cut(c, ":")
	}
	return strings.Join(parts, "/")
}

// compare applies a matcher to a cleaned path.
func (p *Policy) compare(kind, literal, path string, fold bool) bool {
	test := func(literal, path string) bool {
		if path == "" {
			return false
		}
		if fold && kind != "pattern" {
			literal, path = foldCase(compose(literal)), foldCase(compose(path))
		}
		switch kind {
		case "const", "enum":
			return path == strings.TrimSuffix(literal, "/")
		case "prefix":
			return under(literal, path)
		case "suffix":
			return strings.HasSuffix(path, literal)
		case "pattern":
			return pattern(literal, path) || fold && pattern(literal, foldCase(compose(path)))
		}
		return globPath(strings.Split(literal, "/"), components(path), fold)
	}
	inside := path
	for fold && strings.HasPrefix(inside, "../") { // as if it did not leave the root (K18)
		inside = strings.TrimPrefix(inside, "../")
	}
	if kind == "suffix" && !fold && p.relative(path) == "" {
		return false // nowhere below the root
	}
	if kind == "suffix" && p.absolute(path) != "" && test(literal, p.absolute(path)) {
		return true
	}
	if kind == "suffix" || kind == "pattern" {
		if !fold && p.relative(path) != "" { // an absolute path below the root is made relative first (C3)
			return test(literal, p.relative(path))
		}
		return test(literal, path) || fold && (test(literal, p.relative(path)) || test(literal, inside))
	}
	if strings.HasPrefix(literal, "/") {
		return test(literal, p.absolute(path)) || test(literal, p.absolute(inside))
	}
	if test(literal, p.relative(path)) || fold && test(literal, inside) {
		return true
	}
	// Without a root a relative literal is tried below every directory (K19).
	for rest := path; fold && p.Root == "" && strings.HasPrefix(path, "/") && rest != ""; {
		_, rest, _ = strings.Cut(rest, "/")
		if test(literal, rest) {
			return true
		}
	}
	return false
}

// components splits a path; the root has none.
func components(path string) []string {
	if path == "." {
		return nil
	}
	return strings.Split(path, "/")
}

// globPath matches by components: ** is any number of them. A restrictive glob
// also matches everything below what it matches (K18).
func globPath(glob, path []string, below bool) bool {
	switch {
	case len(glob) == 0:
		return len(path) == 0 || below
	case glob[0] == "**":
		for i := 0; i <= len(path); i++ {
			if i > 0 && !below && path[i-1] == ".." {
				return false
			}
			if globPath(glob[1:], path[i:], below) {
				return true
			}
		}
		return false
	}
	return len(path) > 0 && globString(glob[0], path[0]) && globPath(glob[1:], path[1:], below)
}

// canonicalLiterals reports whether every literal could stand in a rule on a path
// (C17).
func canonicalLiterals(c *Cond, permissive bool) bool {
	if c.Kind == "pattern" || c.Kind == "suffix" {
		return true
	}
	for _, v := range c.Values {
		literal := v.Text
		if c.Kind == "prefix" {
			literal = strings.TrimSuffix(literal, "/")
		}
		if v.Kind != String || c.Kind == "max_length" || literal == "" || literal == "." || clean(literal) != literal ||
			strip(literal) != literal || strings.Contains(literal, `\\`) || permissive && !plainPath(literal) {
			return false
		}
	}
	return true
}
