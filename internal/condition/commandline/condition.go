package commandline

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Test evaluates a command line, and each of its simple commands.
type Test struct {
	kind        condition.Kind
	Restrictive bool
	literals    []commandLiteral       // const, enum, prefix: compared by words
	odd         bool                   // some literal has more than plain words
	usages      *usages                // nil for other kinds
	unsure      bool                   // words that may name <system> do
	text        plaintext.SpellingTest // other kinds: compared as text
	// Another condition of the rule evaluates the files that the commands read, or write.
	ReadsJudged, WritesJudged bool
	base                      *lines
}

type commandLiteral struct {
	words []string
	raw   string // the literal as written, if it has more than plain words
}

// Compile compiles a condition on a command line.
func Compile(s condition.Spec, t condition.Target, restrictive bool, env *condition.Env) (condition.TextTest, *condition.SpecError) {
	if t.Paths {
		return compileCommandPaths(s, t, restrictive, *env)
	}
	test := &Test{kind: s.Kind, Restrictive: restrictive, ReadsJudged: t.ReadsJudged, WritesJudged: t.WritesJudged, base: &lines{env: env}}
	var err *condition.SpecError
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix:
		err = test.compileWords(s)
	case condition.Usage:
		test.usages, err = compileUsages(s, restrictive, env)
	case condition.Pattern:
		test.text, err = plaintext.CompilePatterns(s)
	case condition.Reads, condition.Writes, condition.Outside:
		return compileCommandPaths(s, t, restrictive, *env)
	default:
		test.text, err = plaintext.NewLanguageTest(s)
	}
	if err != nil {
		return nil, err
	}
	return test, nil
}

// compileWords compiles literals that are compared word by word.
func (t *Test) compileWords(s condition.Spec) *condition.SpecError {
	for i, lit := range s.Values {
		plain := shell.Simple([]byte(lit.Text))
		c := commandLiteral{words: strings.Fields(lit.Text)}
		switch {
		case len(c.words) == 0:
			return condition.Invalid(i, "has no words", "")
		case !plain && !t.Restrictive:
			hint := "write one command without quotes, operators and expansions"
			if t.kind == condition.Prefix && strings.ContainsAny(lit.Text, "*?") {
				hint = "a prefix needs no wildcard at its end, it compares the first words; `usage` has wildcards"
			}
			return condition.Invalid(i, "is not a plain command, so the condition never matches", hint)
		case !plain:
			c.raw, t.odd = strings.TrimSpace(lit.Text), true
		}
		t.literals = append(t.literals, c)
	}
	return nil
}

func (t *Test) Match(line []byte) bool { return judgeEach(t, read(line), t.Restrictive) }

// Judge evaluates the complete line: a permissive condition must hold for every command of it, a
// restrictive one for any.
func (t *Test) Judge(v *condition.Value) bool { return judgeEach(t, Of(v), t.Restrictive) }

// Command evaluates one simple command. A restrictive condition also considers the commands that it
// runs and the line as written.
func (t *Test) Command(v *condition.Value, i int) bool { return t.command(Of(v), i) }

func (t *Test) command(v *Value, i int) bool {
	l := v.Line()
	if !t.Restrictive {
		return l.Plain && i < len(l.Commands) && t.grants(v, i)
	}
	if (t.text != nil || t.odd || v.OtherLine() != nil) && v.whole(t) {
		return true
	}
	if i < len(l.Commands) {
		for k := i; k < l.Commands[i].End; k++ {
			if t.suspects(v, l, k) {
				return true
			}
		}
	}
	return false
}

// grants reports whether a command certainly satisfies the condition.
func (t *Test) grants(v *Value, i int) bool {
	l := v.Line()
	c := &l.Commands[i]
	if c.Runs || len(c.Words) == 0 || redirected(c, !t.ReadsJudged, !t.WritesJudged) {
		return false
	}
	first := c.Words[0]
	if bytes.IndexByte(first.Text, '/') > 0 && !t.base.at().stays(c) {
		return false // E22: a program whose path depends on the directory
	}
	switch {
	case t.usages != nil:
		return t.usages.grants(l, i, func() bool { return t.given(v, i) })
	case t.text != nil:
		if slices.ContainsFunc(c.Words, func(w shell.Word) bool { return !w.Literal }) {
			return false // the shell turns it into another text
		}
		v.joined = appendWords(v.joined[:0], c.Words)
		// A word of several lines could be mistaken for lines of the command.
		return !c.Open && !first.Quoted && bytes.IndexByte(v.joined, '\n') < 0 && t.text.Holds(v.joined)
	}
	for k := range t.literals {
		if t.spelt(l, i, t.literals[k].words) {
			return true
		}
	}
	return false
}

// given reports whether all words that xargs gives to a command are certainly file names.
func (t *Test) given(v *Value, i int) bool {
	list := effect.Given(v.Line(), i)
	for k := range list {
		if !t.base.at().plainNames(v, t.base.env.Links, &list[k]) {
			return false
		}
	}
	return len(list) > 0
}

// spelt reports whether a command equals, or begins with, some words as written. Words that include
// a part of a command that it runs grant that command too.
func (t *Test) spelt(l *shell.Line, i int, words []string) bool {
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
	return !c.Open || !programs.TakesCode(c.Words[0].Text)
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

// Names evaluates the words of one simple command.
func (t *Test) Names(value *condition.Value, i int) bool {
	v := Of(value)
	l := v.Line()
	switch {
	case i >= len(l.Commands):
		return false
	case t.Restrictive:
		return t.suspects(v, l, i)
	}
	return l.Plain && t.grants(v, i)
}

// Sweeping and Sweeps: the test looks at the words of a line only.
func (t *Test) Sweeping() bool { return false }

func (t *Test) Sweeps(*condition.Value) bool { return false }

// Suspect finds no file.
func (t *Test) Suspect(*condition.Value) (found condition.Suspect, ok bool) { return found, false }

// WithRedirects returns the test with other redirections evaluated elsewhere.
func (t *Test) WithRedirects(readsJudged, writesJudged bool) condition.LineTest {
	if t.ReadsJudged == readsJudged && t.WritesJudged == writesJudged {
		return t
	}
	other := *t
	other.ReadsJudged, other.WritesJudged = readsJudged, writesJudged
	return &other
}

// Redirects returns which redirections another condition of the rule evaluates.
func (t *Test) Redirects() [2]bool { return [2]bool{t.ReadsJudged, t.WritesJudged} }
