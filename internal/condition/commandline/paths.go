package commandline

import (
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
)

// PathTest evaluates the paths that a command line reads or writes (K0a): the targets of its
// redirections and the words that may name files.
//
// A permissive condition evaluates every redirection in its direction, and the operands of programs
// whose operands are certainly files. A restrictive one evaluates every word that may be a path.
type PathTest struct {
	use         effect.Use
	Restrictive bool
	path        condition.TextTest        // for words that the shell takes literally
	expanding   condition.TextTest        // for words that it expands; nil if the condition is permissive
	dotted      condition.TextTest        // for words with wildcards of a program that shows names
	spread      condition.TextTest        // for words with wildcards of a plain line: all their matches
	below       bool                      // includes files that are read without being named
	above       func() pathname.Ancestors // with below
	base        base
	links       *condition.Links
}

func compileCommandPaths(s condition.Spec, t condition.Target, restrictive bool, env condition.Env) (condition.TextTest, *condition.SpecError) {
	test := &PathTest{use: effect.Reads | effect.Writes, Restrictive: restrictive, below: t.Below, base: baseOf(env), links: env.Links}
	switch {
	case s.Kind == condition.Reads:
		test.use, s.Kind = effect.Reads|effect.Named, condition.Glob
	case s.Kind == condition.Writes:
		test.use, s.Kind = effect.Writes, condition.Glob
	case s.Kind == condition.Outside || !restrictive: // a guard on files does not apply to their names
		test.use |= effect.Named
	}
	env = pathform.CommandEnv(env)
	var err *condition.SpecError
	if test.path, err = pathname.Compile(s, false, restrictive, env); err == nil && restrictive {
		test.expanding = pathname.Expanding(test.path)
		asShells(test.expanding, pathform.Aims)
		test.dotted = pathname.Expanding(test.path)
		asShells(test.dotted, pathform.AimsAtDot)
		test.spread = pathname.Expanding(test.path)
		asShells(test.spread, func(string) bool { return true })
	}
	if err == nil && t.Below && s.Kind != condition.Outside {
		test.above = sync.OnceValue(func() pathname.Ancestors { return pathname.AncestorsOf(s, env) })
	}
	return test, err
}

// asShells gives wildcards their meaning in a shell: none of them matches the dot at the start of a
// name. aimed restricts a restrictive test to patterns that state their target: "*.go" could match
// the name of a secret, but is not intended to.
func asShells(t condition.TextTest, aimed func(pattern string) bool) {
	switch t := t.(type) {
	case *pathname.Test:
		t.Aimed = aimed
	case pathname.Either:
		t[0].Aimed, t[1].Aimed = aimed, aimed
	}
}

func (t *PathTest) Match(line []byte) bool { return judgeEach(t, read(line), t.Restrictive) }

func (t *PathTest) Judge(v *condition.Value) bool { return judgeEach(t, Of(v), t.Restrictive) }

// Command evaluates one simple command. A restrictive condition also considers the commands that it
// runs.
func (t *PathTest) Command(v *condition.Value, i int) bool { return t.command(Of(v), i) }

func (t *PathTest) command(v *Value, i int) bool {
	l := v.Line()
	if !t.Restrictive {
		return l.Plain && i < len(l.Commands) && t.grants(v, l, i)
	}
	if i < len(l.Commands) {
		for k := i; k < l.Commands[i].End; k++ {
			if t.suspects(v, l, k) {
				return true
			}
		}
	}
	return v.OtherLine() != nil && v.whole(t)
}

func (t *PathTest) grants(v *Value, l *shell.Line, i int) bool {
	c := &l.Commands[i]
	certain := effect.Certain(c.Program())
	inside := true
	v.eachPath(l, i, func(p *namedPath) bool {
		if p.use&t.use == 0 || p.use&effect.Suspected != 0 || !p.redirected && !certain {
			return true
		}
		text, certain := t.base.from(p.word.Text, c.Moved, c.Into, c.Sure)
		if !certain {
			text, certain = c.At(p.word.Text)
		}
		inside = p.word.Literal && !p.word.Glob && certain && judgeWord(t.path, v.Word(text))
		return inside
	})
	return inside
}

func (t *PathTest) suspects(v *Value, l *shell.Line, i int) (hit bool) {
	c := &l.Commands[i]
	list, ok := v.paths(l, i)
	if !ok {
		v.eachPath(l, i, func(p *namedPath) bool {
			hit = t.suspect(c, p)
			return !hit
		})
		return hit
	}
	for k := range list {
		if t.suspect(c, &list[k]) {
			return true
		}
	}
	return false
}

// suspect evaluates one word of a command.
func (t *PathTest) suspect(c *shell.Command, p *namedPath) bool {
	if p.use&t.use == 0 || len(p.word.Text) == 0 {
		return false
	}
	test := t.testOf(c, &p.word)
	for _, path := range allowed(test, p) {
		if judgeWord(test, path) {
			return true
		}
	}
	return false
}

// allowed returns the paths that a word may name from the directories in which its command may
// work. A test for paths that lead out of the project uses the known directory only.
func allowed(test condition.TextTest, p *namedPath) []*condition.Value {
	if _, outside := test.(*pathname.OutsideTest); outside && p.there[0] != nil {
		return p.there[:]
	}
	return p.candidates
}

// testOf returns the test for a word of a command.
func (t *PathTest) testOf(c *shell.Command, path *shell.Word) condition.TextTest {
	switch {
	case path.Literal:
		return t.path
	case c.Plain && !c.Feeds && path.Glob && shell.ShowsNames(c.Program()): // "a*" may be a.pem, but ls shows no more than with "*"
		return t.dotted
	}
	return t.expanding
}

// judgeWord evaluates a path that a command line names.
func judgeWord(t condition.TextTest, path *condition.Value) bool {
	if shared, ok := t.(condition.ValueTest); ok {
		return shared.Judge(path)
	}
	return t.Match(path.Text())
}

// Names evaluates the words of one simple command.
func (t *PathTest) Names(value *condition.Value, i int) bool {
	v := Of(value)
	l := v.Line()
	return t.Restrictive && i < len(l.Commands) && t.suspects(v, l, i)
}

// WithRedirects returns the test: it evaluates redirections itself.
func (t *PathTest) WithRedirects(bool, bool) condition.LineTest { return t }

// Suspect finds the word because of which the condition holds for a command line, for explanations:
// a word that is such a file as written, or else one that may become it.
func (t *PathTest) Suspect(value *condition.Value) (found condition.Suspect, ok bool) {
	v := Of(value)
	if !t.Restrictive || v.exceeds() {
		return found, false
	}
	for _, l := range [...]*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		for i := range l.Commands {
			v.eachPath(l, i, func(p *namedPath) bool {
				written := p.word.Literal || p.word.Tilde
				if ok && !written || !t.suspect(&l.Commands[i], p) {
					return true
				}
				found, ok = condition.Suspect{Word: string(p.word.Text), Expands: !written}, true
				return found.Expands
			})
			if ok && !found.Expands {
				return found, true
			}
		}
	}
	return found, ok
}
