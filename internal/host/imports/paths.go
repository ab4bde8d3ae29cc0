package imports

import (
	"path"
	"strings"
)

// ignored is a pattern in the manner of .gitignore, as Claude Code reads it: against
// the working directory, "/" the project, "//" the file system, "~/" the home.
type ignored struct{ text string }

// globs translates it into globs of ours. Those of a rule that permits mean no more than
// the pattern, the others no less. exact says that they mean the same.
func (p ignored) globs(permits bool) (globs []string, exact bool, problem string) {
	text := strings.TrimRight(p.text, " ")
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
		base = join(base, "**")
	}
	rest, same, ok := components(rest, permits)
	if !ok {
		return nil, false, "its [ ] cannot be said"
	}
	exact = exact && same
	glob := join(base, rest)
	if !permits {
		glob = strings.ReplaceAll(glob, "**/**", "**")
		// Restrictive globs mean what lies below a directory too, and from "**" on what
		// lies outside of the project.
		return []string{glob}, exact && !strings.HasPrefix(glob, "**"), ""
	}
	last := path.Base(rest)
	switch {
	case last == "**":
		return []string{join(strings.TrimSuffix(glob, "**"), "**/*")}, exact, ""
	case dir:
		return []string{join(glob, "**/*")}, exact, ""
	case strings.ContainsAny(last, "*?["):
		return []string{glob}, false, ""
	}
	return []string{glob, join(glob, "**/*")}, exact, ""
}

// anchor is where the pattern begins, and the rest of it.
func (p ignored) anchor(text string) (base, rest string, anchored bool) {
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

func join(base, rest string) string {
	switch {
	case base == "":
		return rest
	case strings.HasSuffix(base, "/"):
		return base + rest
	}
	return base + "/" + rest
}

// components writes the components of a pattern in our spelling.
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

// withoutClasses puts "?" in the place of every class.
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

// inside are the files of the project.
const inside = "**/*"
