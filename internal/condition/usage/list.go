package usage

import (
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// List contains the usages of one condition, by the programs they name. It is immutable.
type List struct {
	byName       map[string][]*entry
	other        []*entry // of program names with wildcards
	all          []*entry
	placeholders Placeholders
}

// Placeholders decide which words match <root>, <local>, <below> and <system>.
type Placeholders struct {
	// whether a word is certainly <root> or <local>
	Root, Local func(*shell.Word) bool
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
	all := &List{byName: make(map[string][]*entry, len(texts)), all: make([]*entry, 0, len(texts)), placeholders: placeholders}
	entries := make([]entry, len(texts))
	for i, text := range texts {
		e := &entries[i]
		e.text = text
		program, _, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
		e.program, _ = parseWordGlob(program) // an invalid one matches no program
		all.all = append(all.all, e)
		names := e.program.literals()
		if names == nil {
			all.other = append(all.other, e)
		}
		for _, name := range names {
			all.byName[name] = append(all.byName[name], e)
		}
	}
	return all
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
	for _, list := range [2][]*entry{all.byName[string(c.Words[0].Text)], all.other} {
		for _, e := range list {
			if u := e.read(); u != nil && u.grants(l, i, &all.placeholders, names) {
				return true
			}
		}
	}
	return false
}

// Suspects reports whether words may follow a usage. dirs are the directories in which the command
// may work, see [shell.Command.Dirs].
func (all *List) Suspects(words []shell.Word, dirs []string) bool {
	if len(words) == 0 {
		return false
	}
	for _, e := range all.all {
		if e.program.first != "" && !e.program.program(&words[0]) {
			continue
		}
		if u := e.read(); u == nil || u.suspects(words, func(w *shell.Word) bool { return all.placeholders.System == nil || all.placeholders.System(w, dirs) }) {
			return true
		}
	}
	return false
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
