package wire

import (
	"errors"
	"iter"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// ScanApart reads an event or a body in which arguments of calls may stand as JSON.
// These values, which apart finds, are judged by themselves, as the arguments that
// they are: a repeated key in one of them refuses that call and not the whole
// response, as it does where arguments are text (I12). Everywhere else a repeated key
// refuses the text. known is for [jsonstream.Document.ScanKnowing].
func ScanApart(doc *jsonstream.Document, text []byte, maxBytes int, apart func(root jsonstream.Value) iter.Seq[jsonstream.Value], known func(rest []byte) int) error {
	o := EnvelopeOptions(maxBytes)
	refusal := doc.ScanKnowing(text, o, known)
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
