package match

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// commandTest evaluates a command line, and each of its simple commands.
type commandTest struct {
	kind        condition.Kind
	restrictive bool
	literals    []commandLiteral // const, enum, prefix: compared by words
	usages      *usage.List
	unsure      *usage.List  // with <system> for words that may name one; nil without it
	text        spellingTest // other kinds: compared as text
	// Another condition of the rule evaluates the files that the commands read, or write.
	readsJudged, writesJudged bool
	base                      base
	links                     *condition.Links
}

type commandLiteral struct {
	words []string
	raw   string // the literal as written, if it has more than plain words
}

func compileCommand(s condition.Spec, t condition.Target, restrictive bool, env condition.Env) (condition.TextTest, *condition.SpecError) {
	if t.Paths {
		return compileCommandPaths(s, t, restrictive, env)
	}
	test := &commandTest{kind: s.Kind, restrictive: restrictive, readsJudged: t.ReadsJudged, writesJudged: t.WritesJudged, base: baseOf(env), links: env.Links}
	var err *condition.SpecError
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix:
		err = test.compileWords(s)
	case condition.Usage:
		err = test.compileUsages(s, env)
	case condition.Pattern:
		test.text, err = compilePatterns(s)
	case condition.Reads, condition.Writes, condition.Outside:
		return compileCommandPaths(s, t, restrictive, env)
	default:
		n, fault := stringLanguage(s)
		if fault != nil {
			return nil, fault
		}
		test.text = languageTest{n.Compile()}
	}
	if err != nil {
		return nil, err
	}
	return test, nil
}

func (t *commandTest) compileUsages(s condition.Spec, env condition.Env) *condition.SpecError {
	texts, vital := make([]string, len(s.Values)), false
	for i, lit := range s.Values {
		texts[i] = lit.Text
		vital = vital || strings.Contains(lit.Text, "<system>")
	}
	b, v := baseOf(env), criticalDirsOf(env)
	below := func(c *shell.Command, w *shell.Word) bool { return b.below(w) && b.unsettled(env.Links, c, w) }
	same := func(c *shell.Command, w *shell.Word) bool { return b.sameRepository(env.Links, c, w) }
	placeholders := usage.Placeholders{Root: b.names, Below: below, SameRepository: same, Local: gates(env.Gates).apart, System: v.names}
	if env.Checked {
		t.usages = usage.Checked(texts, placeholders)
	} else {
		list, err := usage.Compile(texts, t.restrictive, placeholders)
		if err != nil {
			return &condition.SpecError{Index: err.Index, Offset: err.Offset, Message: err.Message, Hint: err.Hint}
		}
		t.usages = list
	}
	if vital {
		placeholders.System = v.mayName
		t.unsure = t.usages.In(placeholders)
	}
	return nil
}

// WithRedirects returns the matcher with [Target.ReadsJudged] and WritesJudged set: other
// conditions of its rule evaluate these redirections.
func (m *Matcher) WithRedirects(readsJudged, writesJudged bool) *Matcher {
	test, ok := m.text.(*commandTest)
	if !ok || test.readsJudged == readsJudged && test.writesJudged == writesJudged {
		return m
	}
	other, words := *m, *test
	words.readsJudged, words.writesJudged = readsJudged, writesJudged
	other.text = &words
	return &other
}

// compileWords compiles literals that are compared word by word.
func (t *commandTest) compileWords(s condition.Spec) *condition.SpecError {
	for i, lit := range s.Values {
		plain := shell.Simple([]byte(lit.Text))
		c := commandLiteral{words: strings.Fields(lit.Text)}
		switch {
		case len(c.words) == 0:
			return condition.Invalid(i, "has no words", "")
		case !plain && !t.restrictive:
			hint := "write one command without quotes, operators and expansions"
			if t.kind == condition.Prefix && strings.ContainsAny(lit.Text, "*?") {
				hint = "a prefix needs no wildcard at its end, it compares the first words; `usage` has wildcards"
			}
			return condition.Invalid(i, "is not a plain command, so the condition never matches", hint)
		case !plain:
			c.raw = strings.TrimSpace(lit.Text)
		}
		t.literals = append(t.literals, c)
	}
	return nil
}

func (t *commandTest) Match(line []byte) bool {
	var v Value
	v.Reset(line)
	return t.judge(&v)
}

// judge evaluates the complete line: a permissive condition must hold for every command of it, a
// restrictive one for any.
func (t *commandTest) judge(v *Value) bool { return judgeEach(t, v, t.restrictive) }

// command evaluates one simple command. A restrictive condition also considers the commands that it
// runs and the line as written.
func (t *commandTest) command(v *Value, i int) bool {
	l := v.line()
	if !t.restrictive {
		return l.Plain && i < len(l.Commands) && t.grants(v, i)
	}
	if t.raw(v.text) {
		return true
	}
	if i < len(l.Commands) {
		for k := i; k < l.Commands[i].End; k++ {
			if t.suspects(l, k) {
				return true
			}
		}
	}
	if other := v.otherLine(); other != nil {
		for k := range other.Commands {
			if t.suspects(other, k) {
				return true
			}
		}
	}
	return false
}

// grants reports whether a command certainly satisfies the condition.
func (t *commandTest) grants(v *Value, i int) bool {
	l := v.line()
	c := &l.Commands[i]
	if c.Runs || len(c.Words) == 0 || redirected(c, !t.readsJudged, !t.writesJudged) {
		return false
	}
	first := c.Words[0]
	if bytes.IndexByte(first.Text, '/') > 0 && !t.base.stays(c) {
		return false // E22: a program whose path depends on the directory
	}
	switch {
	case t.usages != nil:
		return t.usages.Grants(l, i, func() bool { return t.given(v, i) })
	case t.text != nil:
		var buf [256]byte
		if slices.ContainsFunc(c.Words, func(w shell.Word) bool { return !w.Literal }) {
			return false // the shell turns it into another text
		}
		words := appendWords(buf[:0], c.Words)
		// A word of several lines could be mistaken for lines of the command.
		return !c.Open && !first.Quoted && bytes.IndexByte(words, '\n') < 0 && t.text.holds(words)
	}
	for k := range t.literals {
		if t.spelt(l, i, t.literals[k].words) {
			return true
		}
	}
	return false
}

// given reports whether all words that xargs gives to a command are certainly file names.
func (t *commandTest) given(v *Value, i int) bool {
	list := v.line().Given(i)
	for k := range list {
		if !t.base.plainNames(v, t.links, &list[k]) {
			return false
		}
	}
	return len(list) > 0
}

// spelt reports whether a command equals, or begins with, some words as written. Words that include
// a part of a command that it runs grant that command too.
func (t *commandTest) spelt(l *shell.Line, i int, words []string) bool {
	c := &l.Commands[i]
	if c.Parent >= 0 && l.Commands[c.Parent].Plain && len(words) > c.From && t.spelt(l, c.Parent, words) {
		return true
	}
	if len(c.Words) < len(words) || t.kind != condition.Prefix && (c.Open || len(c.Words) != len(words)) {
		return false
	}
	for k, want := range words {
		if w := &c.Words[k]; w.Quoted || !w.Literal || string(w.Text) != want {
			return false
		}
	}
	return !c.Open || !shell.TakesCode(c.Words[0].Text)
}

// appendWords appends words separated by single spaces.
func appendWords(dst []byte, words []shell.Word) []byte {
	for i := range words {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, words[i].Text...)
	}
	return dst
}

// otherForm returns the line without invisible characters and with compatibility characters
// replaced (E24), nil if it is the same.
func otherForm(line []byte) []byte {
	ascii := true
	for _, b := range line {
		ascii = ascii && b < 0x80 && b != 0 && b != 0x7f && (b >= ' ' || b == '\t' || b == '\n' || b == '\r')
	}
	if ascii {
		return nil
	}
	other := norm.NFKC.String(strings.Map(func(r rune) rune {
		if spelling.Invisible(r) && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, string(line)))
	if other == string(line) {
		return nil
	}
	return []byte(other)
}
