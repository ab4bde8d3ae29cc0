package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/weburl"
)

// Value is one complete string for several matchers. Its derived forms - as a path, as a command
// line, as a URL - are computed once. A Value is reused with Reset and belongs to one goroutine.
type Value struct {
	commandline.Value
	address weburl.Value
}

// Reset sets the string, which must not change during the evaluation.
func (v *Value) Reset(text []byte) {
	v.Value.Reset(text)
	v.address.Reset(text)
}

// ResetText is Reset for a string that is known to be UTF-8.
func (v *Value) ResetText(text []byte) {
	v.Value.ResetText(text)
	v.address.Reset(text)
}

// ResetWords sets the words of an argument vector, which must not change during the evaluation.
// Their text is the command line that a shell would read as them. If complete is false, other words
// may follow, and nothing is certain.
func (v *Value) ResetWords(words [][]byte, complete bool) {
	v.Value.ResetWords(words, complete)
	v.address.Reset(v.Text())
}

// Judge evaluates a complete string as [Matcher.Match] does.
func (m *Matcher) Judge(v *Value) bool {
	if !v.Valid() || m.exceeds(v.Text()) {
		return m.Match(v.Text())
	}
	switch test := m.text.(type) {
	case pathname.SharedPath:
		return test.Judge(v.AsPath())
	case commandline.SharedLine:
		return test.Judge(&v.Value)
	case *weburl.Test:
		return test.Judge(&v.address)
	}
	return m.Match(v.Text())
}

// AsPath returns the value as a path.
func (v *Value) AsPath() *pathform.Value { return &v.Value.Value }

// AsLine returns the value as a command line.
func (v *Value) AsLine() *commandline.Value { return &v.Value }

// PatchFiles returns the files that the string names as a patch; ok is false if it cannot be parsed
// with certainty.
func (v *Value) PatchFiles() (files []string, ok bool) {
	if !v.Valid() || len(v.Text()) > condition.Budget {
		return nil, false
	}
	return patch.Files(string(v.Text()))
}
