package eval

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Evaluation evaluates one call while its arguments arrive. The same code evaluates partial and
// complete arguments: the verdicts and their offsets do not depend on the chunks of the text
// (D26-10, I1, I2). It can be reused with Reset and is not safe for concurrent use. The zero
// Evaluation denies.
type Evaluation struct {
	leafTests
	binding *Binding
	parser  *jsonstream.Parser
	args    jsonstream.Aggregator
	walkers []walker
	checker schema.Validator

	received int64
	nothing  bool // the arguments were empty and "{}" replaces them (A14)
	closed   bool
	accepted bool // Close found one complete object
	released []byte
	watched  watched

	event jsonstream.Event // of a replayed value
	spare []byte           // its text
}

// Reset begins a new call in a session of which no texts are known. Earlier results, except
// verdicts, become invalid.
func (e *Evaluation) Reset(b *Binding) { e.ResetWith(b, nil) }

// ResetWith begins a new call in a session with these texts.
func (e *Evaluation) ResetWith(b *Binding, texts flow.View) {
	e.sessionTexts = texts
	e.reset(b.run)
	e.binding, e.cause = b, b.cause
	e.args.Reset()
	if e.parser == nil {
		e.parser = new(jsonstream.Parser)
	}
	e.parser.Reset(e, jsonstream.Options{ObjectRoot: true})
	e.received, e.nothing, e.closed, e.accepted = 0, false, false, false
	if b.refused != nil {
		refused := *b.refused
		e.publish(&refused)
		return
	}
	if v := &b.run.start.verdict; v.Decided {
		e.verdict = *v
	}
}

// reset prepares everything but the binding and the parser for a plan.
func (e *Evaluation) reset(p *plan) {
	e.leafTests.reset(p)
	e.resizeWalkers(len(p.views))
	for i, v := range p.views {
		e.walkers[i].reset(v)
	}
	e.released, e.watched = nil, watched{}
}

// resizeWalkers makes n walkers ready to be reset; they keep their memory.
func (e *Evaluation) resizeWalkers(n int) {
	for cap(e.walkers) < n {
		e.walkers = append(e.walkers[:cap(e.walkers)], walker{})
	}
	e.walkers = e.walkers[:n]
}

// Feed takes the next bytes of the arguments and returns the verdict so far. Deny and skip are
// final. Any other verdict is provisional until Close returns it: it can only become stricter. Feed
// after Close or after a terminal verdict has no effect.
func (e *Evaluation) Feed(chunk []byte) stopgate.Verdict {
	if e.closed || e.binding == nil {
		return e.verdict
	}
	e.received += int64(len(chunk))
	if e.terminal() {
		return e.verdict
	}
	e.take(e.parser.Feed(chunk))
	return e.verdict
}

// take ends the bytes of a chunk and settles the last one.
func (e *Evaluation) take(err error) {
	if broken, ok := err.(*jsonstream.Error); ok && !e.terminal() {
		if e.reach(e.offset(broken.Offset)) {
			return
		}
		e.fail(broken.Code, broken.Pointer, broken.Detail)
	}
	if e.dirty {
		e.settle()
	}
}

// Close ends the arguments and returns the final verdict of the rules. Without Ended it is deny or
// skip. A second Close has no effect.
func (e *Evaluation) Close(end stopgate.End) stopgate.Verdict {
	if e.closed || e.binding == nil {
		return e.verdict
	}
	e.closed = true
	switch {
	case e.terminal():
	case end == stopgate.Cancelled:
		e.refuse(stopgate.LayerIntegrity, stopgate.CodeCancelled, end.String())
	case end != stopgate.Ended:
		e.refuse(stopgate.LayerIntegrity, stopgate.CodeStreamTruncated, end.String())
	default:
		e.finish()
	}
	return e.verdict
}

// finish takes the normal end of the arguments.
func (e *Evaluation) finish() {
	err := e.parser.Close()
	if broken, ok := err.(*jsonstream.Error); ok && broken.Empty && e.binding.emptyMeansNone {
		e.nothing = true
		e.parser.Reset(e, jsonstream.Options{ObjectRoot: true})
		if err = e.parser.Feed([]byte("{}")); err == nil {
			err = e.parser.Close()
		}
	}
	e.take(err)
	e.accepted = err == nil && !e.terminal()
	if !e.verdict.Decided {
		// Unreachable: with the end of the arguments every rule is decided.
		e.refuse(stopgate.LayerFailure, stopgate.CodePolicyError, "undecided")
	}
}

// Refuse denies the call for a reason outside of its arguments, such as a protocol error, unless
// the verdict is already terminal. cause is a word for the record.
func (e *Evaluation) Refuse(layer stopgate.Layer, code stopgate.Code, cause string) stopgate.Verdict {
	if e.terminal() {
		return e.verdict
	}
	return e.refuse(layer, code, cause)
}

func (e *Evaluation) refuse(layer stopgate.Layer, code stopgate.Code, cause string) stopgate.Verdict {
	e.at, e.cause = e.received, cause
	e.publish(&stopgate.Verdict{Decided: true, Mode: stopgate.Deny, Layer: layer, Code: code, Public: code.Public()})
	return e.verdict
}

// Verdict returns the latest verdict. It is known before any byte if no rule tests an argument
// (D25-40).
func (e *Evaluation) Verdict() stopgate.Verdict { return e.verdict }

// Latest is Verdict without a copy. The result is valid until the next method call.
func (e *Evaluation) Latest() *stopgate.Verdict { return &e.verdict }

// Cause returns details of a refusal for the record, "" if there are none: the integrity error, or
// a word. It contains no values of the call.
func (e *Evaluation) Cause() string { return e.cause }

// Trace returns the verdicts in the order in which they became known, each with its offset (K16).
// None is weaker than the previous one (I3).
func (e *Evaluation) Trace() []stopgate.Verdict {
	all := append([]stopgate.Verdict(nil), e.before...)
	if e.verdict.Decided {
		all = append(all, e.verdict)
	}
	return all
}

// Bytes returns the number of argument bytes received, including those after the decision.
func (e *Evaluation) Bytes() int64 { return e.received }

// Document returns the arguments as they were evaluated. Its root is invalid unless Close accepted
// them. It is valid until Reset.
func (e *Evaluation) Document() *jsonstream.Document {
	if !e.accepted {
		return new(jsonstream.Document)
	}
	return e.args.Document()
}

// offset returns the byte of an event of the parser.
func (e *Evaluation) offset(at int64) int64 {
	if e.nothing {
		return e.received
	}
	return at
}

// Event takes one event of the arguments' parser. It implements [jsonstream.Handler]; callers use
// Feed.
func (e *Evaluation) Event(ev *jsonstream.Event) (stop bool) {
	if ev.Kind == jsonstream.StringPart {
		e.args.Event(ev)
		return e.textPart(ev)
	}
	if e.reach(e.offset(ev.Offset)) {
		return true
	}
	e.args.Event(ev)
	e.value = e.args.Last()
	if e.watched.pointers != nil {
		e.watch(ev)
	}
	e.see(ev)
	if ev.Kind == jsonstream.End {
		e.validate()
	}
	return false
}

// see passes an event to the walkers.
func (e *Evaluation) see(ev *jsonstream.Event) {
	switch ev.Kind {
	case jsonstream.Key:
		e.spine.key(ev.Text)
	case jsonstream.ObjectEnd, jsonstream.ArrayEnd:
		e.spine.pop()
	case jsonstream.StringEnd:
		e.textEnd()
	case jsonstream.End:
		return
	default:
		e.spine.element()
	}
	walkers := e.walkers
	for i := range walkers {
		walkers[i].event(&e.leafTests, ev)
	}
	switch ev.Kind {
	case jsonstream.ObjectStart, jsonstream.ArrayStart:
		e.spine.push(ev.Kind == jsonstream.ArrayStart)
	}
}

// validate checks the complete arguments against the schemas (K14).
func (e *Evaluation) validate() {
	root := e.args.Document().Root()
	for _, v := range e.plan.views {
		if !v.applies {
			continue
		}
		broken := e.checker.Validate(v.schema, root)
		switch {
		case broken == nil:
		case v.onSchema == stopgate.Ask:
			e.floor(stopgate.Ask, stopgate.CodeSchemaViolation, broken.Pointer)
		default:
			e.fail(stopgate.CodeSchemaViolation, broken.Pointer, broken.Message)
		}
	}
}
