package diag

import "encoding/json"

// entryJSON is the output format of `check --format json`.
type entryJSON struct {
	Code      Code          `json:"code"`
	Name      string        `json:"name,omitempty"`
	Severity  string        `json:"severity"`
	File      string        `json:"file"`
	Line      int           `json:"line"`
	Column    int           `json:"column"`
	EndLine   int           `json:"end_line"`
	EndColumn int           `json:"end_column"`
	Message   string        `json:"message"`
	Hint      string        `json:"hint,omitempty"`
	Related   []relatedJSON `json:"related,omitempty"`
}

type relatedJSON struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Message   string `json:"message"`
}

// MarshalJSON encodes a finding as `check --format json` does. Lines and columns are 0 if the
// position is unknown.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	e := entryJSON{
		Code: d.Code, Name: d.Code.Name(), Severity: d.Severity.String(), File: d.File,
		Line: d.Start.Line, Column: d.Start.Column, EndLine: d.End.Line, EndColumn: d.End.Column,
		Message: d.Message, Hint: d.Hint,
	}
	for _, r := range d.Related {
		file := r.File
		if file == "" {
			file = d.File
		}
		e.Related = append(e.Related, relatedJSON{
			File: file, Line: r.Start.Line, Column: r.Start.Column,
			EndLine: r.End.Line, EndColumn: r.End.Column, Message: r.Message,
		})
	}
	return json.Marshal(e)
}

// MarshalJSON encodes the list as the object {"diagnostics": [...]}.
func (l List) MarshalJSON() ([]byte, error) {
	entries := []Diagnostic(l)
	if entries == nil {
		entries = []Diagnostic{}
	}
	return json.Marshal(struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
	}{entries})
}
