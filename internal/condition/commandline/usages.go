package commandline

import (
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// lines is where the command lines of an environment begin, computed when a condition needs it.
type lines struct {
	env   *condition.Env
	once  sync.Once
	begin base
}

func (l *lines) at() *base {
	l.once.Do(func() { l.begin = baseOf(*l.env) })
	return &l.begin
}

// usages are those of a condition. They are read when a command names the program of one of them: of
// thousands of rules most are about others.
type usages struct {
	texts       []string
	restrictive bool
	vital       bool // some usage has <system>
	env         *condition.Env
	once        sync.Once
	all         *usage.List
	unsure      *usage.List // with <system> for words that may name one; nil without it
}

// compileUsages checks usages, unless they are known to be valid.
func compileUsages(s condition.Spec, restrictive bool, env *condition.Env) (*usages, *condition.SpecError) {
	u := &usages{texts: make([]string, len(s.Values)), restrictive: restrictive, env: env}
	for i, lit := range s.Values {
		u.texts[i] = lit.Text
		u.vital = u.vital || strings.Contains(lit.Text, "<system>")
	}
	if env.Checked {
		return u, nil
	}
	if _, err := usage.Compile(u.texts, restrictive, usage.Placeholders{}); err != nil {
		return nil, &condition.SpecError{Index: err.Index, Offset: err.Offset, Message: err.Message, Hint: err.Hint}
	}
	return u, nil
}

// read returns the usages with their placeholders.
func (u *usages) read() *usages {
	u.once.Do(func() {
		env := *u.env
		b, v := baseOf(env), criticalDirsOf(env)
		below := func(c *shell.Command, w *shell.Word) bool { return b.below(c, w) && b.unsettled(env.Links, c, w) }
		same := func(c *shell.Command, w *shell.Word) bool { return b.sameRepository(env.Links, c, w) }
		placeholders := usage.Placeholders{Root: b.Names, Below: below, SameRepository: same, Local: gates(env.Gates).apart, System: v.Names}
		u.all = usage.Checked(u.texts, placeholders)
		if u.vital {
			placeholders.System = v.mayName
			u.unsure = u.all.In(placeholders)
		}
	})
	return u
}

// grants reports whether a command certainly follows a usage.
func (u *usages) grants(l *shell.Line, i int, names func() bool) bool {
	return usage.AnyNames(u.texts, &l.Commands[i].Words[0]) && u.read().all.Grants(l, i, names)
}

// suspects reports whether a command may follow a usage, one with <system> also by words that may
// name it if unsure is set.
func (u *usages) suspects(program *usage.Program, operands []shell.Word, dirs []string, unsure bool) bool {
	if !usage.AnyMayName(u.texts, program) {
		return false
	}
	if u.read(); unsure {
		return u.unsure.Suspects(program, operands, dirs)
	}
	return u.all.Suspects(program, operands, dirs)
}
