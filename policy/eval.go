package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Evaluation judges one call while its arguments arrive. It can be reused with
// Reset and is not safe for concurrent use. The zero Evaluation denies.
type Evaluation struct {
	verdict stopgate.Verdict
	doc     jsonstream.Document
}

// Reset begins a new call. What the evaluation gave out before, verdicts excepted,
// is not valid any more.
func (e *Evaluation) Reset(b *Binding) {
	e.verdict = stopgate.Verdict{Decided: true, Layer: stopgate.LayerIntegrity, Code: stopgate.CodePolicyNotConfigured}
}

// Feed takes the next bytes of the arguments and returns the verdict as it is known
// with them. Deny and skip are final. Any other verdict is provisional until Close
// returned it: it can only become stricter. Feed after Close or after a terminal
// verdict changes nothing.
func (e *Evaluation) Feed(chunk []byte) stopgate.Verdict { return e.verdict }

// Close says how the arguments ended and returns the final verdict of the rules.
// Only Ended can leave anything but deny or skip. A second Close changes nothing.
func (e *Evaluation) Close(end stopgate.End) stopgate.Verdict { return e.verdict }

// Refuse denies the call for a reason outside of its arguments, such as a message
// that breaks its protocol, unless the verdict is terminal already.
func (e *Evaluation) Refuse(layer stopgate.Layer, code stopgate.Code, cause string) stopgate.Verdict {
	return e.verdict
}

// Verdict returns the latest verdict; it is known before any byte if no rule looks
// at an argument.
func (e *Evaluation) Verdict() stopgate.Verdict { return e.verdict }

// Cause is a word of detail about a refusal for the record, "" if there is none.
func (e *Evaluation) Cause() string { return "" }

// Trace lists the verdicts in the order in which they became known, each with the
// byte it became known with. None is weaker than the one before it (I3).
func (e *Evaluation) Trace() []stopgate.Verdict { return []stopgate.Verdict{e.verdict} }

// Bytes is the number of argument bytes received, those after the decision included.
func (e *Evaluation) Bytes() int64 { return 0 }

// Document is the arguments as they were judged. Its root is invalid unless Close
// accepted them. It is valid until Reset.
func (e *Evaluation) Document() *jsonstream.Document { return &e.doc }

// Args are the bytes that run if the verdict lets them: our own serialisation of the
// value that was judged, with the paths cleaned that the deciding rule permitted (K4).
// nil unless Close accepted the arguments and the verdict is not terminal. They are
// valid until Reset.
func (e *Evaluation) Args() []byte { return nil }
