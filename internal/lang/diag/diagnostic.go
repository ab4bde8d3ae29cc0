package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the effect of a diagnostic on the file. The zero value rejects the file.
type Severity uint8

// The severities.
const (
	Error   Severity = iota // the file is rejected
	Warning                 // the file loads, but may have another meaning than its author intended
	Note                    // information
)

// String returns the severity as the text and JSON forms spell it.
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Note:
		return "note"
	}
	return "error"
}

// Diagnostic is one finding.
type Diagnostic struct {
	Code     Code
	Severity Severity
	File     string
	Range
	Message string // one line, lower case, no full stop
	// Hint is the remedy, "" if there is none. Text in back quotes can be pasted.
	Hint    string
	Related []Related
}

// Related is another location that a diagnostic refers to.
type Related struct {
	File string
	Range
	Message string
}

// String returns the first line of the text form.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s: %s %s: %s", location(d.File, d.Range), d.Severity, d.Code, plain(d.Message))
}

// List is the findings of one run, in order of discovery until Sort.
type List []Diagnostic

// Add appends a finding and sets its severity from its code.
func (l *List) Add(d Diagnostic) {
	d.Severity = d.Code.Severity()
	*l = append(*l, d)
}

// HasErrors reports whether the file is rejected.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Errors returns the findings that reject the file.
func (l List) Errors() List {
	var errors List
	for _, d := range l {
		if d.Severity == Error {
			errors = append(errors, d)
		}
	}
	return errors
}

// Strict turns the warnings that the catalogue marks as strict into errors, in place (K0i).
func (l List) Strict() {
	for i := range l {
		if l[i].Severity == Warning && l[i].Code.Strict() {
			l[i].Severity = Error
		}
	}
}

// Sort orders the list by file, position, code and message, and drops duplicates. The result does
// not depend on the order of discovery.
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(
			strings.Compare(a.File, b.File),
			cmp.Compare(a.Start.Offset, b.Start.Offset),
			cmp.Compare(a.End.Offset, b.End.Offset),
			strings.Compare(string(a.Code), string(b.Code)),
			strings.Compare(a.Message, b.Message),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.File == b.File && a.Range == b.Range && a.Code == b.Code && a.Message == b.Message
	})
}

// Err returns nil if the list has no error, else an error with the first one and the number of the
// others. It is for callers that cannot show a list.
func (l List) Err() error {
	errors := l.Errors()
	if len(errors) == 0 {
		return nil
	}
	return &listError{first: errors[0], count: len(errors)}
}

type listError struct {
	first Diagnostic
	count int
}

func (e *listError) Error() string {
	if e.count == 1 {
		return e.first.String()
	}
	return fmt.Sprintf("%s (and %d more)", e.first, e.count-1)
}

// location formats file:line:column, as far as they are known.
func location(file string, r Range) string {
	file = plain(file)
	if !r.IsValid() {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, r.Start.Line, r.Start.Column)
}
