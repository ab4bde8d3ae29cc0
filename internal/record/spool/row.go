package spool

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Row is a line with a record that is given its place in a chain when it is delivered.
type Row struct {
	Record   json.RawMessage `json:"row"`
	Args     []byte          `json:"args,omitempty"`     // as they are kept
	Redacted *string         `json:"redacted,omitempty"` // pointers of the values that were removed from them
}

// Line returns the line.
func (r Row) Line() ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return line.Bytes(), nil
}
