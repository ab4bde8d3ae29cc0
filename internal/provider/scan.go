package provider

import (
	"errors"
	"iter"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// ScanEmbeddedArgs scans an event or a body in which arguments of calls may occur as JSON.
// args returns these values, which are evaluated separately: a repeated key in one of them
// refuses that call and not the whole response, as it does where arguments are text (I12).
// A repeated key anywhere else refuses the text. known is passed to
// [jsonstream.Document.ScanWithKnown].
func ScanEmbeddedArgs(doc *jsonstream.Document, text []byte, maxBytes int, apart func(root jsonstream.Value) iter.Seq[jsonstream.Value], known func(rest []byte) int) error {
	o := EnvelopeOptions(maxBytes)
	refusal := doc.ScanWithKnown(text, o, known)
	var e *jsonstream.Error
	if !errors.As(refusal, &e) || e.Code != stopgate.CodeDuplicateKey {
		return refusal
	}
	o.RepeatedKeys = true
	if err := doc.Scan(text, o); err != nil {
		return err
	}
	var edits Edits
	for v := range apart(doc.Root()) {
		edits.Replace(v, []byte("{}"))
	}
	o.RepeatedKeys = false
	if _, err := jsonstream.Parse(edits.AppendTo(nil, text, 0, len(text)), o); err != nil {
		doc.Reset()
		return refusal
	}
	return nil
}
