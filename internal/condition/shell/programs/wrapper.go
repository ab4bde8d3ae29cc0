package programs

import "strings"

// Wrapper describes how to find the command after a wrapper's own options.
type Wrapper struct {
	options  string // with ":" for those with a value, "!" for those with which no command is run
	Operands int    // words between the options and the command
	Assigns  bool   // NAME=value may be among them
	Open     bool   // the command gets more words
	LineFlag bool   // its -S takes a command line
	Number   bool   // -5 is an option
}

// Option looks up an option and returns whether it has a value, and whether it prevents the command.
func (w Wrapper) Option(name string) (value, query, ok bool) {
	for field := range strings.FieldsSeq(w.options) {
		if strings.TrimRight(field, ":!") == name {
			return strings.HasSuffix(field, ":"), strings.HasSuffix(field, "!"), true
		}
	}
	return false, false, false
}
