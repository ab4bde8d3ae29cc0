package draft

import (
	"path"
	"strings"
)

// Ignored is a pattern like those of .gitignore, as Claude Code reads it: relative to the working
// directory, "/" to the project, "//" to the file system, "~/" to the home directory.
type Ignored struct{ Text string }

// Globs converts the pattern. The globs of a permissive rule match no more than the pattern, the
// others no less. exact is set if they match the same.
func (p Ignored) Globs(permits bool) (globs []string, exact bool, problem string) {
	text := strings.TrimRight(p.Text, " ")
	if strings.HasPrefix(text, "!") {
		return nil, false, "it takes something out of another rule"
	}
	base, rest, anchored := p.anchor(text)
	exact = true
	dir := strings.HasSuffix(rest, "/")
	rest = strings.Trim(rest, "/")
	if rest == "" {
		rest, dir = "**", false
	}
	if strings.Contains(rest, "/") {
		anchored = true
	}
	if !anchored && permits && strings.HasPrefix(text, "./") {
		anchored, exact = true, false
	}
	if !anchored {
		base = Join(base, "**")
	}
	rest, same, ok := components(rest, permits)
	if !ok {
		return nil, false, "its [ ] cannot be said"
	}
	exact = exact && same
	glob := Join(base, rest)
	if !permits {
		glob = strings.ReplaceAll(glob, "**/**", "**")
		// Restrictive globs also match everything below a directory, and with a leading "**" also
		// outside of the project.
		return []string{glob}, exact && !strings.HasPrefix(glob, "**"), ""
	}
	last := path.Base(rest)
	switch {
	case last == "**":
		return []string{Join(strings.TrimSuffix(glob, "**"), "**/*")}, exact, ""
	case dir:
		return []string{Join(glob, "**/*")}, exact, ""
	case strings.ContainsAny(last, "*?["):
		return []string{glob}, false, ""
	}
	return []string{glob, Join(glob, "**/*")}, exact, ""
}

// anchor returns the directory where the pattern begins, and the rest of it.
func (p Ignored) anchor(text string) (base, rest string, anchored bool) {
	switch {
	case strings.HasPrefix(text, "//"):
		return "/", text[2:], true
	case strings.HasPrefix(text, "~/"):
		return "~/", text[2:], true
	case strings.HasPrefix(text, "/"):
		return "", text[1:], true
	case strings.HasPrefix(text, "./"):
		return "", text[2:], false
	}
	return "", text, false
}

// Join joins a directory and the rest of a pattern.
func Join(base, rest string) string {
	switch {
	case base == "":
		return rest
	case strings.HasSuffix(base, "/"):
		return base + rest
	}
	return base + "/" + rest
}

// components respells the components of a pattern.
func components(text string, permits bool) (out string, exact, ok bool) {
	exact = true
	parts := strings.Split(text, "/")
	for i, c := range parts {
		if c == "**" {
			continue
		}
		for strings.Contains(c, "**") {
			c = strings.ReplaceAll(c, "**", "*")
		}
		if strings.Contains(c, "[") {
			if permits {
				return "", false, false
			}
			c, exact = withoutClasses(c), false
		}
		c = strings.NewReplacer("{", `\{`, "}", `\}`, "!", "!").Replace(c)
		parts[i] = c
	}
	return strings.Join(parts, "/"), exact, true
}

// withoutClasses replaces every class by "?".
func withoutClasses(c string) string {
	for {
		before, rest, ok := strings.Cut(c, "[")
		if !ok {
			return c
		}
		_, after, ok := strings.Cut(rest, "]")
		if !ok {
			return before + "*"
		}
		c = before + "?" + after
	}
}

// Inside matches the files of the project.
const Inside = "**/*"
