package condition

import (
	"iter"
	"slices"
	"strings"
)

// Table is the conditions of the policy language: the kinds that policy files may use, and how
// strings are read that are more than text. Wiring makes it; it must not be changed afterwards.
type Table struct {
	// Kinds are in the order of the reference.
	Kinds []Definition
	// Line reads a string as a command line.
	Line func(v *Value) Line
	// CommandKeys returns the commands that a condition on command lines may hold for, nil if they are
	// not known.
	CommandKeys func(s *Spec) []CommandKey
	// AppendWords appends the command line that a shell reads as some words.
	AppendWords func(dst []byte, words [][]byte) []byte
	// IsPatch reports whether a string can be read as a patch with certainty.
	IsPatch func(v *Value) bool
	// Protect returns the protected list for some directories and policy files.
	Protect func(env Env, files ...string) Protected
}

// Define returns the definition of a kind, nil if the table has none.
func (t *Table) Define(k Kind) *Definition {
	for i := range t.Kinds {
		if t.Kinds[i].Kind == k {
			return &t.Kinds[i]
		}
	}
	return nil
}

// inList is the end of the keys of conditions whose values are a named list (K60).
const inList = "_in"

// Keys returns the keys of conditions in rules, then their forms for named lists.
func (t *Table) Keys() (keys []string) {
	for _, d := range t.Kinds {
		keys = append(keys, d.Kind.String())
	}
	for _, d := range t.Kinds {
		if d.Listed {
			keys = append(keys, d.Kind.String()+inList)
		}
	}
	return keys
}

// OptionKeys returns the further keys that some conditions may have.
func (t *Table) OptionKeys() (keys []string) {
	for _, d := range t.Kinds {
		for _, o := range d.Options {
			if !slices.Contains(keys, o.Key) {
				keys = append(keys, o.Key)
			}
		}
	}
	return keys
}

// ParseKey returns the kind of a key of a rule, nil if it is none. listed is set if the values are a
// named list.
func (t *Table) ParseKey(key string) (d *Definition, listed bool) {
	if d = t.Define(Kind(key)); d != nil {
		return d, false
	}
	kind, listed := strings.CutSuffix(key, inList)
	if d = t.Define(Kind(kind)); !listed || d == nil || !d.Listed {
		return nil, false
	}
	return d, true
}

// Spec returns a condition of a kind with some literals.
func (t *Table) Spec(k Kind, values ...Literal) Spec {
	return Spec{Kind: k, Definition: t.Define(k), Values: values}
}

// Line is a string as a command line.
type Line interface {
	// Analysable reports whether every command of the line is known. redirects is set if other
	// conditions evaluate the files that it reads and writes.
	Analysable(redirects bool) bool
	// NamesPrograms reports whether the string can be read as a command line that names the
	// programs it runs. Most texts that are no command lines cannot.
	NamesPrograms() bool
	// Commands returns the number of simple commands: those that the line lists and those that they
	// run. A line without any counts as one.
	Commands() int
	// AppendCommand appends the words of one simple command, separated by single blanks.
	AppendCommand(dst []byte, i int) []byte
	// EachProgram calls yield for the key of every program that the line may name, with the words that
	// may follow it there. It returns false if there may be others.
	EachProgram(yield func(key []byte, words iter.Seq[[]byte])) (complete bool)
}

// CommandKey describes commands: those of a program with certain words after it.
type CommandKey struct {
	Program string // as in [Line.EachProgram]
	Words   []string
}

// Row returns the definition of the kind of a condition. A kind that the table does not have has one
// without types, which fits no value.
func (s *Spec) Row() *Definition {
	if s.Definition == nil {
		return &Definition{Kind: s.Kind, Undeclared: AnyReading}
	}
	return s.Definition
}
