package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// shellNames are the tools that run a command in /command, as agents call them.
var shellNames = []string{"Bash", "bash", "shell", "Shell", "local_shell", "run_shell_command", "execute_command", "run_command", "run_terminal_cmd"}

// shell is the table of commands, under the name that the host has for the tool. timeout is the
// host's name for the parameter that bounds the time of a command.
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

// prefixed is a condition on the words with which a command begins.
func prefixed(beginnings ...string) cond {
	sure := make([]string, len(beginnings))
	for i, b := range beginnings {
		sure[i] = quoteMeta(b)
	}
	return cond{arg: "/command", matcher: "prefix", values: beginnings, sure: group(sure) + "(?: [^]*)?"}
}

// exactly is a condition on a whole command.
func exactly(command string) cond {
	return cond{arg: "/command", matcher: "const", values: []string{command}, sure: quoteMeta(command)}
}

func group(alternatives []string) string {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return "(?:" + strings.Join(alternatives, "|") + ")"
}

// quoteMeta writes a text as a pattern that matches it.
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

// wild is a text of a host in which wildcards stand for any characters.
type wild struct {
	text string
	one  bool // "?" is one character
	// tail says that a blank and a "*" at the end also stand for nothing at all.
	tail bool
	// alone says that it does so only if it is the only wildcard.
	alone bool
}

// pattern writes it as a pattern without anchors.
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

// command translates a host's text about commands into a condition. exact says that the
// condition means the same for commands that are plainly written; ok that there is one.
// Hosts compare texts and the language compares words, which is the same where the text
// has no quotes and the wildcard begins behind a whole word.
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
	// Quotes are gone where patterns look.
	w.text = strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(text)
	// Assignments before a command are gone there too, and a wildcard may stand for them.
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
	exact = w.text == text && !(w.alone && open && strings.Contains(body, "*"))
	c = cond{arg: "/command", matcher: "pattern", values: []string{"^" + p + "$"}}
	if exact {
		c.sure = p
	}
	// In a line of several commands a wildcard inside may stand for the end of one and the
	// beginning of the next.
	return c, exact && !strings.ContainsAny(strings.TrimRight(text, " *"), "*?"), true
}

// whole is a condition on the text of a whole command: nothing else than what the host's
// wildcards stand for.
func (w wild) whole() cond {
	w.text = strings.Join(strings.Fields(w.text), " ")
	w.tail = w.tail && !(w.alone && strings.Count(w.text, "*") > 1)
	return cond{arg: "/command", matcher: "pattern", values: []string{"^" + w.pattern() + "$"}}
}

// words reports whether a text is plain words, which mean themselves to every shell.
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

// usage writes the text as a usage: each wildcard is words. That is less than the text
// means, because a wildcard of the host's may begin inside of a word that is quoted.
func (w wild) usage() (string, bool) {
	list := strings.Fields(w.text)
	var out []string
	for i, word := range list {
		last := i == len(list)-1
		star := strings.Contains(word, "*") || w.one && strings.Contains(word, "?")
		switch {
		case word == "*" && last && w.tail && !(w.alone && strings.Count(w.text, "*") > 1):
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

// commandRule makes a rule about commands of a host's text, and reports what is lost.
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
		// The words alone say too little: options may stand where the host's text has none,
		// and a "?" is one character.
		r.conds = append(r.conds, w.whole())
	}
	if c.words() {
		r.match = c.values[:1]
		if c.matcher == "prefix" {
			r.noMatch = []string{c.values[0] + "x"}
		}
	}
	return r
}
