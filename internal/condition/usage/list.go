package usage

import (
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// List contains the usages of one condition, by the programs they name. It is immutable.
type List struct {
	all          []*entry
	grants       func() *byProgram // by the words that certainly name a program
	suspects     func() *byProgram // by the keys of words that may name it
	placeholders Placeholders
}

// byProgram is the usages of a list by what names their programs.
type byProgram struct {
	named map[string][]*entry
	other []*entry // of program names with wildcards, and of those without a key
}

// Placeholders decide which words match <root>, <local>, <below> and <system>.
type Placeholders struct {
	// whether a word is certainly <local>
	Local func(*shell.Word) bool
	// whether a word of a command is certainly <root>
	Root func(*shell.Command, *shell.Word) bool
	// whether a word of a command is certainly <below>
	Below func(*shell.Command, *shell.Word) bool
	// whether git finds the same repository in such a directory as in the root
	SameRepository func(*shell.Command, *shell.Word) bool
	// whether a word may be <system> for a command that may work in dirs
	System func(w *shell.Word, dirs []string) bool
}

// entry is a usage of which only the program is parsed until a command names it.
type entry struct {
	text    string
	program wordGlob
	once    sync.Once
	usage   *usage // nil if it cannot be parsed
}

// maxElements is the maximum length of a usage: a state is one bit.
const maxElements = 60

// Compile parses usages. Those of a restrictive condition exclude no options and have none of
// <script>, <root>, <below> and <local>; only they may have <system>.
func Compile(texts []string, restrictive bool, placeholders Placeholders) (*List, *Error) {
	all := Checked(texts, placeholders)
	for i, e := range all.all {
		u, err := parse(e.text)
		if err == nil && restrictive {
			err = u.loosens()
		} else if err == nil && u.vital {
			err = &Error{Offset: -1, Message: "has <system>, which only a restrictive rule can: it is what a word may name", Hint: "`*` is any word"}
		}
		if err != nil {
			err.Index = i
			return nil, err
		}
		e.once.Do(func() { e.usage = u })
	}
	return all, nil
}

// Checked is Compile for usages that Compile has accepted before: each is parsed when a command
// names its program. An invalid one grants no command and suspects every command of its program.
func Checked(texts []string, placeholders Placeholders) *List {
	all := &List{all: make([]*entry, 0, len(texts)), placeholders: placeholders}
	all.grants = sync.OnceValue(func() *byProgram { return all.by(func(name string) (string, bool) { return name, true }) })
	all.suspects = sync.OnceValue(func() *byProgram {
		return all.by(func(name string) (string, bool) { key := keyOf(name); return key, key != "" })
	})
	entries := make([]entry, len(texts))
	for i, text := range texts {
		e := &entries[i]
		e.text = text
		program, _, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
		e.program, _ = parseWordGlob(program) // an invalid one matches no program
		all.all = append(all.all, e)
	}
	return all
}

// by returns the usages by the keys of the programs that they name. A usage with a program that has
// no key is among the others.
func (all *List) by(key func(name string) (string, bool)) *byProgram {
	list := &byProgram{named: make(map[string][]*entry, len(all.all))}
	for _, e := range all.all {
		names := e.program.literals()
		if names == nil || slices.ContainsFunc(names, func(name string) bool { _, ok := key(name); return !ok }) {
			list.other = append(list.other, e)
			continue
		}
		for _, name := range names {
			name, _ := key(name)
			list.named[name] = append(list.named[name], e)
		}
	}
	return list
}

// In returns the list with other placeholders.
func (all *List) In(placeholders Placeholders) *List {
	other := *all
	other.placeholders = placeholders
	return &other
}

// read returns the usage, nil if it is invalid.
func (e *entry) read() *usage {
	e.once.Do(func() { e.usage, _ = parse(e.text) })
	return e.usage
}

// Grants reports whether command i of a line certainly follows a usage. names reports whether the
// words that follow one that is [shell.Command.Open] are file names and not options; nil means
// unknown.
func (all *List) Grants(l *shell.Line, i int, names func() bool) bool {
	c := &l.Commands[i]
	if c.Words[0].Quoted || !c.Words[0].Literal {
		return false
	}
	by := all.grants()
	for _, list := range [2][]*entry{by.named[string(c.Words[0].Text)], by.other} {
		for _, e := range list {
			if u := e.read(); u != nil && u.grants(l, i, &all.placeholders, names) {
				return true
			}
		}
	}
	return false
}

// Suspects reports whether a command may follow a usage. operands are the words after the one that
// names its program, dirs the directories in which it may work, see [shell.Command.Dirs].
func (all *List) Suspects(program *Program, operands []shell.Word, dirs []string) bool {
	system := func(w *shell.Word) bool { return all.placeholders.System == nil || all.placeholders.System(w, dirs) }
	keys, keyed := program.keys()
	if !keyed {
		return slices.ContainsFunc(all.all, func(e *entry) bool { return e.suspects(program, operands, system) })
	}
	by := all.suspects()
	for _, key := range keys {
		if key == nil {
			continue
		}
		for _, e := range by.named[string(key)] {
			if e.suspects(program, operands, system) {
				return true
			}
		}
	}
	for _, e := range by.other {
		if e.suspects(program, operands, system) {
			return true
		}
	}
	return false
}

// suspects reports whether a command may follow the usage. One that cannot be parsed suspects every
// command of its program.
func (e *entry) suspects(program *Program, operands []shell.Word, system func(*shell.Word) bool) bool {
	if e.program.first != "" && !e.program.program(program) {
		return false
	}
	u := e.read()
	return u == nil || u.suspects(program, operands, system)
}

// loosens returns an error if only a permissive rule can have the usage.
func (u *usage) loosens() *Error {
	fault := func(message, hint string) *Error { return &Error{Offset: -1, Message: message, Hint: hint} }
	switch {
	case len(u.excluded) > 0:
		return fault("excludes options, which only a permissive rule can", "put a rule that permits these options above this one")
	case u.scripted:
		return fault("has <script>, which only a permissive rule can: it says what a script certainly does not do", "`*` is any word")
	case u.placeholder != "":
		return fault("has "+u.placeholder+", which only a permissive rule can: it is what a word certainly names", "`*` is any word")
	}
	return nil
}
