package draft

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// LineOf returns the line in which a value begins.
func LineOf(text []byte, v jsonstream.Value) int {
	at, _ := v.Span()
	return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n"))
}

// LineOfTable returns the line in which a table begins.
func LineOfTable(v *tomltree.Value) int {
	if len(v.Entries) > 0 {
		return v.Entries[0].KeyRange.Start.Line
	}
	return v.Range.Start.Line
}

// First returns the text of a member, of a list its first.
func First(v *tomltree.Value, key string) string {
	list, ok := Texts(v, key)
	if !ok || len(list) == 0 {
		return ""
	}
	return list[0]
}

// Texts returns the texts of a member that is a string or a list of strings.
func Texts(v *tomltree.Value, key string) (list []string, ok bool) {
	e := v.Get(key)
	if e == nil {
		return nil, true
	}
	values := []*tomltree.Value{e.Value}
	if e.Value.Kind == tomltree.Array {
		values = e.Value.Elements
	}
	for _, v := range values {
		if v.Kind != tomltree.String {
			return nil, false
		}
		list = append(list, v.Text)
	}
	return list, true
}
