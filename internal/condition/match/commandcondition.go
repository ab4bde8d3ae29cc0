package match

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// commandTest judges a command line, and each simple command of it.
type commandTest struct {
	kind        Kind
	restrictive bool
	literals    []commandLiteral // const, enum, prefix: by words
	usages      *usage.List
	unsure      *usage.List // with <system> for words that may name one; nil without it
	text        wholeTest   // other kinds: by text
	// Another condition of the rule judges what the commands read, or write.
	readsJudged, writesJudged bool
	base                      base
	links                     *Links
}

type commandLiteral struct {
	words []string
	raw   string // the literal as written, if it is more than plain words
}

func compileCommand(s Spec, t Target, restrictive bool, env Env) (textTest, *SpecError) {
	if t.Paths {
		return compileCommandPaths(s, t, restrictive, env)
	}
	test := &commandTest{kind: s.Kind, restrictive: restrictive, readsJudged: t.ReadsJudged, writesJudged: t.WritesJudged, base: baseOf(env), links: env.Links}
	var err *SpecError
	switch s.Kind {
	case Const, Enum, Prefix:
		err = test.compileWords(s)
	case Usage:
		err = test.compileUsages(s, env)
	case Pattern:
		test.text, err = compilePatterns(s)
	case Reads, Writes, Outside:
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

func (t *commandTest) compileUsages(s Spec, env Env) *SpecError {
	texts, vital := make([]string, len(s.Values)), false
	for i, lit := range s.Values {
		texts[i] = lit.Text
		vital = vital || strings.Contains(lit.Text, "<system>")
	}
	b, v := baseOf(env), vitalOf(env)
	below := func(c *shell.Command, w *shell.Word) bool { return b.below(w) && b.unsettled(env.Links, c, w) }
	same := func(c *shell.Command, w *shell.Word) bool { return b.sameRepository(env.Links, c, w) }
	places := usage.Placeholders{Root: b.names, Below: below, SameRepository: same, Local: gates(env.Gates).apart, System: v.names}
	if env.Checked {
		t.usages = usage.Checked(texts, places)
	} else {
		list, err := usage.Compile(texts, t.restrictive, places)
		if err != nil {
			return &SpecError{Index: err.Index, Offset: err.Offset, Message: err.Message, Hint: err.Hint}
		}
		t.usages = list
	}
	if vital {
		places.System = v.mayName
		t.unsure = t.usages.In(places)
	}
	return nil
}

// Beside is the matcher with what other conditions of its rule judge, as
// [Target.ReadsJudged] and WritesJudged say it.
func (m *Matcher) Beside(readsJudged, writesJudged bool) *Matcher {
	test, ok := m.text.(*commandTest)
	if !ok || test.readsJudged == readsJudged && test.writesJudged == writesJudged {
		return m
	}
	other, words := *m, *test
	words.readsJudged, words.writesJudged = readsJudged, writesJudged
	other.text = &words
	return &other
}

// compileWords reads literals that are compared word by word.
func (t *commandTest) compileWords(s Spec) *SpecError {
	for i, lit := range s.Values {
		plain := shell.Simple([]byte(lit.Text))
		c := commandLiteral{words: strings.Fields(lit.Text)}
		switch {
		case len(c.words) == 0:
			return whole(i, "has no words", "")
		case !plain && !t.restrictive:
			hint := "write one command without quotes, operators and expansions"
			if t.kind == Prefix && strings.ContainsAny(lit.Text, "*?") {
				hint = "a prefix needs no wildcard at its end, it compares the first words; `usage` has wildcards"
			}
			return whole(i, "is not a plain command, so the condition never matches", hint)
		case !plain:
			c.raw = strings.TrimSpace(lit.Text)
		}
		t.literals = append(t.literals, c)
	}
	return nil
}

func (t *commandTest) match(line []byte) bool {
	var v Value
	v.Reset(line)
	return t.judge(&v)
}

// judge judges the line as a whole: certainty needs every command of it, suspicion
// needs one.
func (t *commandTest) judge(v *Value) bool { return judgeEach(t, v, t.restrictive) }

// command judges one simple command. A restrictive condition also looks at what the
// command runs and at the line as it is written.
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

// grants reports that a command certainly satisfies the condition.
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
			return false // what the shell makes of it is another text
		}
		words := appendWords(buf[:0], c.Words)
		// A word of several lines could stand for lines of the command.
		return !c.Open && !first.Quoted && bytes.IndexByte(words, '\n') < 0 && t.text.holds(words)
	}
	for k := range t.literals {
		if t.spelt(l, i, t.literals[k].words) {
			return true
		}
	}
	return false
}

// given reports that all words which xargs gives to a command are certainly names of files.
func (t *commandTest) given(v *Value, i int) bool {
	list := v.line().Given(i)
	for k := range list {
		if !t.base.plainNames(v, t.links, &list[k]) {
			return false
		}
	}
	return len(list) > 0
}

// spelt reports that a command is, or begins with, some words as they are written.
// Words that reach into a command that it runs grant that command too.
func (t *commandTest) spelt(l *shell.Line, i int, words []string) bool {
	c := &l.Commands[i]
	if c.Parent >= 0 && l.Commands[c.Parent].Plain && len(words) > c.From && t.spelt(l, c.Parent, words) {
		return true
	}
	if len(c.Words) < len(words) || t.kind != Prefix && (c.Open || len(c.Words) != len(words)) {
		return false
	}
	for k, want := range words {
		if w := &c.Words[k]; w.Quoted || !w.Literal || string(w.Text) != want {
			return false
		}
	}
	return !c.Open || !shell.TakesCode(c.Words[0].Text)
}

// appendWords appends words with single spaces between them.
func appendWords(dst []byte, words []shell.Word) []byte {
	for i := range words {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, words[i].Text...)
	}
	return dst
}

// otherForm is the line without what is not seen and with compatibility characters
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
		if invisible(r) && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, string(line)))
	if other == string(line) {
		return nil
	}
	return []byte(other)
}
