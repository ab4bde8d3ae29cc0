package draft

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// shellNames are the tools that run a command in /command, under the names that agents use.
var shellNames = []string{"Bash", "bash", "shell", "Shell", "local_shell", "run_shell_command", "execute_command", "run_command", "run_terminal_cmd"}

// Shell returns the table of commands, under the host's name for the tool. timeout is the host's
// name for the parameter that limits the time of a command.
func (d *Draft) Shell(name, timeout string) *Table {
	t := d.Table(name, Param{"command", "command!"})
	if len(t.Also) == 0 {
		t.Params = append(t.Params, Param{"description", "string"}, Param{timeout, "number"})
		for _, n := range shellNames {
			if n != name {
				t.Also = append(t.Also, n)
			}
		}
	}
	return t
}

// Prefixed returns a condition on the first words of a command.
func Prefixed(beginnings ...string) Condition {
	sure := make([]string, len(beginnings))
	for i, b := range beginnings {
		sure[i] = QuoteMeta(b)
	}
	return Condition{Arg: "/command", Matcher: "prefix", Values: beginnings, Sure: Group(sure) + "(?: [^]*)?"}
}

// exactly returns a condition on a complete command.
func exactly(command string) Condition {
	return Condition{Arg: "/command", Matcher: "const", Values: []string{command}, Sure: QuoteMeta(command)}
}

// Group returns a pattern of alternatives.
func Group(alternatives []string) string {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return "(?:" + strings.Join(alternatives, "|") + ")"
}

// QuoteMeta returns a pattern that matches a text literally.
func QuoteMeta(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\^$.*+?()[]{}|/`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Wild is a text of a host with wildcards for any characters.
type Wild struct {
	Text string
	One  bool // "?" is one character
	// Tail is set if a blank and a "*" at the end also match the empty text.
	Tail bool
	// Single is set if they do so only when there is no other wildcard.
	Single bool
}

// Pattern returns a pattern without anchors.
func (w Wild) Pattern() string {
	text, end := w.Text, ""
	if w.Tail && strings.HasSuffix(text, " *") {
		text, end = strings.TrimSuffix(text, " *"), "(?: [^]*)?"
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '*':
			b.WriteString("[^]*")
		case r == '?' && w.One:
			b.WriteString("[^]")
		default:
			b.WriteString(QuoteMeta(string(r)))
		}
	}
	return b.String() + end
}

// Has reports whether the text has a wildcard.
func (w Wild) Has() bool {
	return strings.Contains(w.Text, "*") || w.One && strings.Contains(w.Text, "?")
}

// Command converts a host's text on commands to a condition. exact is set if the condition means
// the same for plainly written commands; ok is false if there is none. Hosts compare texts and the
// language compares words, which is the same if the text has no quotes and the wildcard begins
// after a complete word.
func (w Wild) Command(permits bool) (c Condition, exact, ok bool) {
	text := strings.Join(strings.Fields(w.Text), " ")
	w.Text = text
	body, open := strings.CutSuffix(text, " *")
	switch {
	case text == "":
		return c, false, false
	case !w.Has() && Words(text):
		return exactly(text), true, true
	case open && w.Tail && Words(body):
		return Prefixed(body), true, true
	case permits:
		usage, ok := w.usage()
		return Condition{Arg: "/command", Matcher: "usage", Values: []string{usage}}, false, ok
	}
	// Patterns match texts without quotes.
	w.Text = strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(text)
	// Assignments before a command are removed there too, and a wildcard may match them.
	for first, rest, more := strings.Cut(w.Text, " "); more && strings.Contains(first, "="); first, rest, more = strings.Cut(w.Text, " ") {
		w.Text = rest
	}
	leading := strings.HasPrefix(w.Text, "* ")
	if leading {
		w.Text = w.Text[len("* "):]
	}
	p := w.Pattern()
	if leading {
		p = "(?:[^]* )?" + p
	}
	exact = w.Text == text && !(w.Single && open && strings.Contains(body, "*"))
	c = Condition{Arg: "/command", Matcher: "pattern", Values: []string{"^" + p + "$"}}
	if exact {
		c.Sure = p
	}
	// In a line of several commands a wildcard inside may match the end of one and the beginning of
	// the next.
	return c, exact && !strings.ContainsAny(strings.TrimRight(text, " *"), "*?"), true
}

// complete returns a condition on the text of a complete command that matches exactly the host's
// wildcards.
func (w Wild) complete() Condition {
	w.Text = strings.Join(strings.Fields(w.Text), " ")
	w.Tail = w.Tail && !(w.Single && strings.Count(w.Text, "*") > 1)
	return Condition{Arg: "/command", Matcher: "pattern", Values: []string{"^" + w.Pattern() + "$"}}
}

// Words reports whether a text is plain words, which are literal in every shell.
func Words(text string) bool {
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
func (w Wild) usage() (string, bool) {
	list := strings.Fields(w.Text)
	var out []string
	for i, word := range list {
		last := i == len(list)-1
		star := strings.Contains(word, "*") || w.One && strings.Contains(word, "?")
		switch {
		case word == "*" && last && w.Tail && !(w.Single && strings.Count(w.Text, "*") > 1):
			out = append(out, "**")
		case word == "*":
			out = append(out, "*", "**")
		case star:
			bare := strings.NewReplacer("*", "", "?", "").Replace(word)
			if bare != "" && !Words(bare) || strings.HasPrefix(word, "-") {
				return "", false
			}
			out = append(out, word)
			if i == 0 {
				out = append(out, "[-*]")
			}
			out = append(out, "**")
		case !Words(word):
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
	return strings.Join(out, " "), w.Has()
}

// CommandRule returns a rule on the commands of a host's text, and reports the differences.
func CommandRule(from *SourceRule, m stopgate.Mode, w Wild) *Rule {
	permits := m == stopgate.Unattended
	c, exact, ok := w.Command(permits)
	switch {
	case !ok && permits:
		from.LeftOut("it names no command that is plainly written")
		return nil
	case !ok:
		from.Stricter("every command")
		return &Rule{From: from, Mode: m, Wide: true}
	case !exact && permits:
		from.Stricter("its wildcards stand for whole words, and not for what quotes enclose")
	case !exact:
		from.Stricter("quotes, assignments and wildcards are read generously")
	}
	r := &Rule{From: from, Mode: m, Conds: []Condition{c}}
	if c.Matcher == "usage" {
		// The words alone are not enough: options may be where the host's text has none, and a "?"
		// is one character.
		r.Conds = append(r.Conds, w.complete())
	}
	if c.words() {
		r.Match = c.Values[:1]
		if c.Matcher == "prefix" {
			r.NoMatch = []string{c.Values[0] + "x"}
		}
	}
	return r
}

// Glob converts the text to a glob that matches no more.
func (w Wild) Glob() (glob string, exact, ok bool) {
	text := w.Text
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
