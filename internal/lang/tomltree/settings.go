package tomltree

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Settings reads a table of settings and collects its mistakes with their positions.
type Settings struct {
	// Mistakes are those found so far.
	Mistakes diag.List

	table *Value // nil if the file has none
}

// Read decodes a table into a struct, as [Decode] does; table may be nil.
func Read(table *Value, into any) *Settings {
	return &Settings{Decode(table, into), table}
}

// Get returns the entry of a key, nil for none.
func (s *Settings) Get(key string) *Entry { return s.table.Get(key) }

// Report reports a value of the table or below it.
func (s *Settings) Report(v *Value, format string, args ...any) {
	s.Mistakes.Add(diag.Diagnostic{Code: diag.BadValue, File: v.File(), Range: v.Range, Message: fmt.Sprintf(format, args...)})
}

// Reject reports a key's value if err is not nil.
func (s *Settings) Reject(key string, err error) {
	if e := s.table.Get(key); e != nil && err != nil {
		s.Report(e.Value, "%v", err)
	}
}

// Positive rejects a number that is not above zero.
func Positive[T int | int64 | time.Duration](s *Settings, key string, n T) {
	if n <= 0 {
		s.Reject(key, fmt.Errorf("%s must be above zero", key))
	}
}

// OneOf rejects a value that is not one of words; "" is the default.
func (s *Settings) OneOf(key, word string, words ...string) {
	if word != "" && !slices.Contains(words, word) {
		s.Reject(key, fmt.Errorf("want %s, not %q", diag.OneOf(words), word))
	}
}

// Count rejects a negative number.
func (s *Settings) Count(key string, n *int64, meaning string) {
	if n != nil && *n < 0 {
		s.Reject(key, errors.New(meaning))
	}
}
