package usage

import (
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// List is the usages of one condition, by the programs they name. It does not change.
type List struct {
	byName map[string][]*entry
	other  []*entry // of programs that are named by wildcards
	all    []*entry
	places Places
}

// Places tells which words the names of places stand for.
type Places struct {
	// <root> and <local>, as far as they are certain
	Root, Local func(*shell.Word) bool
	// <below>, as far as it is certain, for a command
	Below func(*shell.Command, *shell.Word) bool
	// <system>, as far as it is possible, for a command that may work in some directories
	System func(w *shell.Word, dirs []string) bool
}

// entry is a usage of which only the program is read, until a command names it.
type entry struct {
	text    string
	program wordGlob
	once    sync.Once
	usage   *usage // nil: it cannot be read
}

// maxElements bounds one usage: a state is a bit.
const maxElements = 60

// Compile reads usages. Those of a restrictive condition exclude no options, and have
// neither <script> nor <root>, <below> and <local>; only they have <system>.
func Compile(texts []string, restrictive bool, places Places) (*List, *Error) {
	all := Checked(texts, places)
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

// Checked is Compile for usages in which that found no mistake before: each is read when a
// command names its program. One with a mistake is followed by no command for certain, and
// by each of its program possibly.
func Checked(texts []string, places Places) *List {
	all := &List{byName: make(map[string][]*entry, len(texts)), all: make([]*entry, 0, len(texts)), places: places}
	entries := make([]entry, len(texts))
	for i, text := range texts {
		e := &entries[i]
		e.text = text
		program, _, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
		e.program, _ = parseWordGlob(program) // of one with a mistake nothing is certain
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

// In is the list with other places.
func (all *List) In(places Places) *List {
	other := *all
	other.places = places
	return &other
}

// read is the usage, nil if it has a mistake.
func (e *entry) read() *usage {
	e.once.Do(func() { e.usage, _ = parse(e.text) })
	return e.usage
}

// Grants reports a usage that command i of a line certainly follows. names reports that the
// words which follow one that is [shell.Command.Open] are names of files, and no options; nil
// is for nobody knows.
func (all *List) Grants(l *shell.Line, i int, names func() bool) bool {
	c := &l.Commands[i]
	if c.Words[0].Quoted || !c.Words[0].Literal {
		return false
	}
	for _, list := range [2][]*entry{all.byName[string(c.Words[0].Text)], all.other} {
		for _, e := range list {
			if u := e.read(); u != nil && u.grants(l, i, &all.places, names) {
				return true
			}
		}
	}
	return false
}

// Suspects reports a usage that words may follow. dirs are the directories in which the
// command may work, as [shell.Command.Dirs] has them.
func (all *List) Suspects(words []shell.Word, dirs []string) bool {
	if len(words) == 0 {
		return false
	}
	for _, e := range all.all {
		if e.program.first != "" && !e.program.program(&words[0]) {
			continue
		}
		if u := e.read(); u == nil || u.suspects(words, func(w *shell.Word) bool { return all.places.System == nil || all.places.System(w, dirs) }) {
			return true
		}
	}
	return false
}

// loosens is the error of a usage that only a permissive rule can have.
func (u *usage) loosens() *Error {
	whole := func(message, hint string) *Error { return &Error{Offset: -1, Message: message, Hint: hint} }
	switch {
	case len(u.excluded) > 0:
		return whole("excludes options, which only a permissive rule can", "put a rule that permits these options above this one")
	case u.scripted:
		return whole("has <script>, which only a permissive rule can: it says what a script certainly does not do", "`*` is any word")
	case u.place != "":
		return whole("has "+u.place+", which only a permissive rule can: it is what a word certainly names", "`*` is any word")
	}
	return nil
}
