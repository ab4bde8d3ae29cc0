package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// shellNames are the tools that run a command in /command, under the names that agents use.
var shellNames = []string{"Bash", "bash", "shell", "Shell", "local_shell", "run_shell_command", "execute_command", "run_command", "run_terminal_cmd"}

// shell returns the table of commands, under the host's name for the tool. timeout is the host's
// name for the parameter that limits the time of a command.
func (d *draft) shell(name, timeout string) *table {
	t := d.table(name, param{"command", "command!"})
	if len(t.also) == 0 {
		t.params = append(t.params, param{"description", "string"}, param{timeout, "number"})
		for _, n := range shellNames {
			if n != name {
				t.also = append(t.also, n)
			}
		}
	}
	return t
}

// prefixed returns a condition on the first words of a command.
func prefixed(beginnings ...string) cond {
	sure := make([]string, len(beginnings))
	for i, b := range beginnings {
		sure[i] = quoteMeta(b)
	}
	return cond{arg: "/command", matcher: "prefix", values: beginnings, sure: group(sure) + "(?: [^]*)?"}
}

// exactly returns a condition on a complete command.
func exactly(command string) cond {
	return cond{arg: "/command", matcher: "const", values: []string{command}, sure: quoteMeta(command)}
}

func group(alternatives []string) string {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return "(?:" + strings.Join(alternatives, "|") + ")"
}

// quoteMeta returns a pattern that matches a text literally.
func quoteMeta(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\^$.*+?()[]{}|/`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// wild is a text of a host with wildcards for any characters.
type wild struct {
	text string
	one  bool // "?" is one character
	// tail is set if a blank and a "*" at the end also match the empty text.
	tail bool
	// single is set if they do so only when there is no other wildcard.
	single bool
}

// pattern returns a pattern without anchors.
func (w wild) pattern() string {
	text, end := w.text, ""
	if w.tail && strings.HasSuffix(text, " *") {
		text, end = strings.TrimSuffix(text, " *"), "(?: [^]*)?"
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '*':
			b.WriteString("[^]*")
		case r == '?' && w.one:
			b.WriteString("[^]")
		default:
			b.WriteString(quoteMeta(string(r)))
		}
	}
	return b.String() + end
}

func (w wild) has() bool {
	return strings.Contains(w.text, "*") || w.one && strings.Contains(w.text, "?")
}

// command converts a host's text on commands to a condition. exact is set if the condition means
// the same for plainly written commands; ok is false if there is none. Hosts compare texts and the
// language compares words, which is the same if the text has no quotes and the wildcard begins
// after a complete word.
func (w wild) command(permits bool) (c cond, exact, ok bool) {
	text := strings.Join(strings.Fields(w.text), " ")
	w.text = text
	body, open := strings.CutSuffix(text, " *")
	switch {
	case text == "":
		return c, false, false
	case !w.has() && words(text):
		return exactly(text), true, true
	case open && w.tail && words(body):
		return prefixed(body), true, true
	case permits:
		usage, ok := w.usage()
		return cond{arg: "/command", matcher: "usage", values: []string{usage}}, false, ok
	}
	// Patterns match texts without quotes.
	w.text = strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(text)
	// Assignments before a command are removed there too, and a wildcard may match them.
	for first, rest, more := strings.Cut(w.text, " "); more && strings.Contains(first, "="); first, rest, more = strings.Cut(w.text, " ") {
		w.text = rest
	}
	leading := strings.HasPrefix(w.text, "* ")
	if leading {
		w.text = w.text[len("* "):]
	}
	p := w.pattern()
	if leading {
		p = "(?:[^]* )?" + p
	}
	exact = w.text == text && !(w.single && open && strings.Contains(body, "*"))
	c = cond{arg: "/command", matcher: "pattern", values: []string{"^" + p + "$"}}
	if exact {
		c.sure = p
	}
	// In a line of several commands a wildcard inside may match the end of one and the beginning of
	// the next.
	return c, exact && !strings.ContainsAny(strings.TrimRight(text, " *"), "*?"), true
}

// complete returns a condition on the text of a complete command that matches exactly the host's
// wildcards.
func (w wild) complete() cond {
	w.text = strings.Join(strings.Fields(w.text), " ")
	w.tail = w.tail && !(w.single && strings.Count(w.text, "*") > 1)
	return cond{arg: "/command", matcher: "pattern", values: []string{"^" + w.pattern() + "$"}}
}

// words reports whether a text is plain words, which are literal in every shell.
func words(text string) bool {
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case strings.ContainsRune(" _-./:@%+,", r):
		case r == '=' && i > 0 && strings.Contains(text[:i], " "):
		default:
			return false
		}
	}
	return text != ""
}

// usage converts the text to a usage: each wildcard is words. It matches less than the text, since
// a host's wildcard may begin inside of a quoted word.
func (w wild) usage() (string, bool) {
	list := strings.Fields(w.text)
	var out []string
	for i, word := range list {
		last := i == len(list)-1
		star := strings.Contains(word, "*") || w.one && strings.Contains(word, "?")
		switch {
		case word == "*" && last && w.tail && !(w.single && strings.Count(w.text, "*") > 1):
			out = append(out, "**")
		case word == "*":
			out = append(out, "*", "**")
		case star:
			bare := strings.NewReplacer("*", "", "?", "").Replace(word)
			if bare != "" && !words(bare) || strings.HasPrefix(word, "-") {
				return "", false
			}
			out = append(out, word)
			if i == 0 {
				out = append(out, "[-*]")
			}
			out = append(out, "**")
		case !words(word):
			return "", false
		default:
			out = append(out, word)
		}
		if i == 0 && len(list) > 1 && !star {
			out = append(out, "[-*]")
		}
	}
	// "**" twice is "**".
	out = slices.CompactFunc(out, func(a, b string) bool { return a == "**" && b == "**" })
	return strings.Join(out, " "), w.has()
}

// commandRule returns a rule on the commands of a host's text, and reports the differences.
func commandRule(from *Rule, m stopgate.Mode, w wild) *rule {
	permits := m == stopgate.Unattended
	c, exact, ok := w.command(permits)
	switch {
	case !ok && permits:
		from.leftOut("it names no command that is plainly written")
		return nil
	case !ok:
		from.stricter("every command")
		return &rule{from: from, mode: m, wide: true}
	case !exact && permits:
		from.stricter("its wildcards stand for whole words, and not for what quotes enclose")
	case !exact:
		from.stricter("quotes, assignments and wildcards are read generously")
	}
	r := &rule{from: from, mode: m, conds: []cond{c}}
	if c.matcher == "usage" {
		// The words alone are not enough: options may be where the host's text has none, and a "?"
		// is one character.
		r.conds = append(r.conds, w.complete())
	}
	if c.words() {
		r.match = c.values[:1]
		if c.matcher == "prefix" {
			r.noMatch = []string{c.values[0] + "x"}
		}
	}
	return r
}

// glob converts the text to a glob that matches no more.
func (w wild) glob() (glob string, exact, ok bool) {
	text := w.text
	for strings.Contains(text, "**") {
		text = strings.ReplaceAll(text, "**", "*")
	}
	if strings.ContainsAny(text, "[]{}") || strings.Contains("/"+text+"/", "/../") || strings.Contains("/"+text+"/", "/./") || strings.Contains(text, "//") || text == "" {
		return "", false, false
	}
	exact = true
	parts := strings.Split(text, "/")
	var out []string
	for i, p := range parts {
		switch {
		case p == "*" && i == len(parts)-1:
			out = append(out, "**", "*")
		case p == "*" && i == 0:
			out = append(out, "*", "**") // something precedes the "/"
			exact = false                // it may be empty, at the root
		case p == "*":
			out = append(out, "*", "**")
		case strings.HasPrefix(p, "*") && i == 0 && !strings.Contains(p[1:], "*"):
			out = append(out, "**", p)
		case strings.ContainsAny(p, "*?"):
			exact = false
			out = append(out, p)
		case p == "":
			return "", false, false
		default:
			out = append(out, p)
		}
	}
	out = slices.CompactFunc(out, func(a, b string) bool { return a == "**" && b == "**" })
	return strings.Join(out, "/"), exact, true
}
