package match

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/shell"
	"github.com/stopgate/stopgate/policy/usage"
)

// commandTest judges a command line, and each simple command of it.
type commandTest struct {
	kind        Kind
	restrictive bool
	literals    []commandLiteral // const, enum, prefix: by words
	usages      *usage.List
	text        wholeTest // other kinds: by text
	// Another condition of the rule judges what the commands read, or write.
	readsJudged, writesJudged bool
	base                      base
}

type commandLiteral struct {
	words []string
	raw   string // the literal as written, if it is more than plain words
}

func compileCommand(s Spec, t Target, restrictive bool, env Env) (textTest, *SpecError) {
	if t.Paths {
		return compileCommandPaths(s, t, restrictive, env)
	}
	test := &commandTest{kind: s.Kind, restrictive: restrictive, readsJudged: t.ReadsJudged, writesJudged: t.WritesJudged, base: baseOf(env)}
	var err *SpecError
	switch s.Kind {
	case Const, Enum, Prefix:
		err = test.compileWords(s)
	case Usage:
		test.usages, err = compileUsages(s, restrictive, env)
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

func compileUsages(s Spec, restrictive bool, env Env) (*usage.List, *SpecError) {
	texts := make([]string, len(s.Values))
	for i, lit := range s.Values {
		texts[i] = lit.Text
	}
	b, v := baseOf(env), vitalOf(env)
	places := usage.Places{Root: b.names, System: v.names}
	if env.Checked {
		return usage.Checked(texts, places), nil
	}
	list, err := usage.Compile(texts, restrictive, places)
	if err != nil {
		return nil, &SpecError{Index: err.Index, Offset: err.Offset, Message: err.Message, Hint: err.Hint}
	}
	return list, nil
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
		return l.Plain && i < len(l.Commands) && t.grants(l, i)
	}
	if l.Excess || t.raw(v.text) {
		return true
	}
	if i < len(l.Commands) {
		for k := i; k < l.Commands[i].End; k++ {
			if t.suspects(l, k) {
				return true
			}
		}
	}
	other := v.otherLine()
	if other == nil || other.Excess {
		return other != nil
	}
	for k := range other.Commands {
		if t.suspects(other, k) {
			return true
		}
	}
	return false
}

// grants reports that a command certainly satisfies the condition.
func (t *commandTest) grants(l *shell.Line, i int) bool {
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
		return t.usages.Grants(l, i)
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

// suspects reports that a command may satisfy the condition, from wherever in it a
// command may begin: behind wrappers, assignments and words that may be empty.
func (t *commandTest) suspects(l *shell.Line, i int) bool {
	words := l.Commands[i].Words
	judged := 0
	begins := func(words []shell.Word) bool {
		if judged++; t.literals == nil && judged > maxBeginnings {
			return true
		}
		return t.begins(words, l.Commands[i].Dirs)
	}
	if l.Commands[i].Prints && begins(printer) {
		return true
	}
	behind, command := false, true // behind a wrapper; the word may be a command
	var program []byte             // that may run what stands behind one of its words
	for k := range words {
		w := &words[k]
		if (behind || command) && begins(words[k:]) {
			return true
		}
		if bytes.IndexByte(w.Text, '=') >= 0 && t.values(w, words[k+1:min(len(words), k+1+maxValueWords)], begins) {
			return true
		}
		name := shell.Base(w.Text)
		behind = behind || command && shell.Wrapper(name) || program != nil && shell.RunsBehind(program, w.Text)
		if command {
			program = name
		}
		command = command && (shell.IsAssignment(w.Text) || shell.Reserved(name) || len(w.Text) == 0 || !w.Literal && !w.Glob && len(name) == 0)
	}
	return false
}

// printer is the command whose text stands in a word ([shell.Command.Prints]).
var printer = []shell.Word{{Text: []byte("cat"), Literal: true}}

// values reports that what stands behind some = of a word may begin a command: the value
// by itself, or, where it has blanks, as a command line.
func (t *commandTest) values(w *shell.Word, behind []shell.Word, begins func([]shell.Word) bool) bool {
	var list []shell.Word
	for f := range bytes.FieldsFuncSeq(w.Text, func(r rune) bool { return r == ' ' }) {
		list = append(list, shell.Word{Text: bytes.Trim(f, `'"`), Literal: w.Literal})
	}
	if len(list) == 1 {
		list[0].Text = w.Text
	}
	list = append(list, behind...)
	line := make([]shell.Word, 0, maxValueWords+1)
	for i, f := range list[:len(list)-len(behind)] {
		for at, b := range f.Text {
			if b != '=' || at+1 == len(f.Text) {
				continue
			}
			line = append(line[:0], shell.Word{Text: f.Text[at+1:], Literal: w.Literal})
			line = append(line, list[i+1:min(len(list), i+1+maxValueWords)]...)
			if begins(line) {
				return true
			}
		}
	}
	return false
}

// raw judges the line as a text.
func (t *commandTest) raw(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if t.text != nil {
		return t.text.holds(line) || t.text.holds(trimmed)
	}
	for _, lit := range t.literals {
		rest, ok := bytes.CutPrefix(trimmed, []byte(lit.raw))
		if lit.raw != "" && ok && (t.kind == Prefix || len(rest) == 0) {
			return true
		}
	}
	return false
}

// begins judges words of which the first is a command. Words are compared as words;
// everything else sees them with single spaces between them.
func (t *commandTest) begins(words []shell.Word, dirs []string) bool {
	switch {
	case t.usages != nil:
		return t.usages.Suspects(words, dirs)
	case t.text != nil:
		var buf [256]byte
		return t.text.holds(appendWords(buf[:0], words))
	}
	for i := range t.literals {
		if t.beginsWith(words, t.literals[i].words) {
			return true
		}
	}
	return false
}

func (t *commandTest) beginsWith(words []shell.Word, want []string) bool {
	if len(words) < len(want) || t.kind != Prefix && len(words) != len(want) {
		return false
	}
	for i, text := range want {
		if i == 0 && !usage.SameProgram(&words[0], text) || i > 0 && string(words[i].Text) != text {
			return false
		}
	}
	return true
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
