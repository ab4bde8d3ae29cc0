package tomltree

import (
	"errors"
	"fmt"
	"slices"

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

// Reject reports a key's value if err is not nil.
func (s *Settings) Reject(key string, err error) {
	if e := s.table.Get(key); e != nil && err != nil {
		s.Mistakes.Add(diag.Diagnostic{Code: diag.BadValue, File: e.Value.File(), Range: e.Value.Range, Message: err.Error()})
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
