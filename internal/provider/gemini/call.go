package gemini

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// call is one buffered call.
type call struct {
	choice    *choice
	number    int // number of the call in stopgate.Event
	id, name  string
	signature []byte // thoughtSignature of its part, as it is written
	partial   *tree  // its arguments so far, if they arrive in pieces
	open      bool   // more pieces follow
	ended     bool   // CallRefused or CallEnded was emitted
	refused   bool
	late      int64 // bytes of arguments received after the refusal
}

// choice is the state of one candidate.
type choice struct {
	index    int
	calls    []*call
	textSent bool // text was sent to the client
	reason   jsonstream.Value
	finished bool // the last chunk of it had a finish reason
	end      stopgate.End
}

// answer tracks the calls of one response and reports them to the sink.
type answer struct {
	req       *provider.Request
	sink      provider.Sink
	o         provider.Options
	choices   []*choice
	list      []*call
	pending   int
	buffered  int // bytes that the codec itself buffers
	blocked   bool
	generated int64
	usage     []byte // the last usage that the provider sent
	head      []byte // the members that events written by the gate copy, each after a comma
	notes     provider.Notes
	maxLate   int64
	event     stopgate.Event // reused: a sink may use it only during its call
}

func newAnswer(r *provider.Request, sink provider.Sink, o provider.Options) answer {
	if r == nil {
		r = &provider.Request{}
	}
	return answer{req: r, sink: sink, o: o.WithDefaults()}
}

// Pending implements [provider.Stream].
func (a *answer) Pending() int { return a.pending }

// Notes implements [provider.Stream] and [provider.Body].
func (a *answer) Notes() provider.Notes { return a.notes }

// LateBytes implements [provider.Stream].
func (a *answer) LateBytes() int64 { return a.maxLate }

// maxChoices limits the state of one response; the API offers eight.
const maxChoices = 128

// choice returns the state of a candidate, nil above the limit.
func (a *answer) choice(index int) *choice {
	for _, c := range a.choices {
		if c.index == index {
			return c
		}
	}
	if len(a.choices) == maxChoices {
		return nil
	}
	c := &choice{index: index}
	a.choices = append(a.choices, c)
	return c
}

// take reads the candidates of a response: their calls, and the notes for the record.
func (a *answer) take(c *chunk) *provider.StreamError {
	a.blocked = a.blocked || c.blocked
	a.readInfo(c)
	seen := map[int]bool{}
	for i := range c.candidates {
		e := &c.candidates[i]
		index, ok := e.index()
		if !ok || seen[index] {
			return provider.Malformed(nil)
		}
		seen[index] = true
		if e.choice = a.choice(index); e.choice == nil {
			return provider.LimitExceeded()
		}
		for part := range e.parts.Elements() {
			k, err := a.part(e.choice, part)
			if err != nil {
				return err
			}
			e.calls = append(e.calls, k)
			c.hasCalls = c.hasCalls || k != nil
		}
		if e.reason.IsValid() {
			e.choice.finished, e.choice.end = true, endOf(e.reason)
			a.notes.Response.AddFinishReason(e.reason)
		}
	}
	return nil
}

// part reads a part. It returns the call to which the part belongs, if any.
func (a *answer) part(c *choice, part jsonstream.Value) (*call, *provider.StreamError) {
	switch kind, name := wire.KindOf(part); kind {
	case wire.Call:
		return a.callPart(c, part), nil
	case wire.Provider:
		if len(a.req.ServerTools) == 0 { // the request asked for no such tool (L14)
			return nil, provider.UnknownCall()
		}
		a.notes.AddNotEvaluated(name)
		if name == "codeExecutionResult" || name == "toolResponse" {
			a.result(part, name == "toolResponse")
		}
	case wire.Unknown:
		a.notes.AddNotEvaluated(name)
		a.result(part, true)
	}
	text, _ := part.Get("text")
	a.generated += int64(max(len(text.Raw())-len(`""`), 0))
	return nil, nil
}

// result reports a part that is, or may be, the result of a tool of the provider.
func (a *answer) result(part jsonstream.Value, opaque bool) {
	if a.o.Result != nil {
		text, more := provider.ReadContent(part)
		a.o.Result(text, more || opaque)
	}
}

// callPart reads a part with a call, or with the next piece of one.
func (a *answer) callPart(c *choice, part jsonstream.Value) *call {
	v, _ := part.Get("functionCall")
	name, named := v.Get("name")
	more, _ := v.Get("willContinue")
	pieces, partial := v.Get("partialArgs")
	args, whole := v.Get("args")
	whole = whole && provider.Present(args)
	k := c.openCall()
	if k == nil || named && provider.Present(name) && !name.IsText("") {
		k = a.start(c, v, part)
	} else if id, _ := v.Get("id"); provider.Present(id) && !id.IsText(k.id) {
		a.refuse(k, stopgate.CodeProtocolViolation)
	}
	a.generated += int64(len(args.Raw()) + len(pieces.Raw()))
	switch {
	case k.ended:
		k.late += int64(len(args.Raw()) + len(pieces.Raw()))
		a.maxLate = max(a.maxLate, k.late)
	case whole && (partial || k.partial != nil):
		a.refuse(k, stopgate.CodeEnvelopeMismatch)
	case whole:
		a.feed(k, args.Raw())
	case partial && provider.Present(pieces):
		a.addPieces(k, pieces)
	}
	if k.open = more.Kind() == jsonstream.True; !k.open {
		a.closePieces(k)
	}
	return k
}

// openCall returns the call that waits for more pieces.
func (c *choice) openCall() *call {
	if n := len(c.calls); n > 0 && c.calls[n-1].open {
		return c.calls[n-1]
	}
	return nil
}

// start starts the call of a part. A call that is still open is not complete.
func (a *answer) start(c *choice, v, part jsonstream.Value) *call {
	if k := c.openCall(); k != nil {
		k.open = false
		a.refuse(k, stopgate.CodeProtocolViolation)
	}
	id, _ := v.Get("id")
	name, _ := v.Get("name")
	signature, _ := part.Get("thoughtSignature")
	k := &call{choice: c, number: len(a.list), id: id.Text(), name: name.Text()}
	if signature.Kind() == jsonstream.String {
		k.signature = append(k.signature, signature.Raw()...)
	}
	a.list, c.calls = append(a.list, k), append(c.calls, k)
	a.pending++
	a.sink.Event(a.emit(k, stopgate.CallStarted))
	switch {
	case len(a.list) > a.o.MaxCalls:
		a.refuse(k, stopgate.CodeLimitExceeded)
	case a.refuseSameID(k), k.name == "", provider.Present(id) && id.Kind() != jsonstream.String, name.Kind() != jsonstream.String:
		a.refuse(k, stopgate.CodeProtocolViolation)
	case a.req.IsUnknown(stopgate.ToolName(k.name)):
		a.refuse(k, stopgate.CodePolicyNotConfigured)
	}
	return k
}

// refuseSameID refuses earlier calls with the id of k: a result could belong to either of them. Many
// models send no ids.
func (a *answer) refuseSameID(k *call) (found bool) {
	for _, other := range a.list[:k.number] {
		if k.id != "" && other.id == k.id {
			a.refuse(other, stopgate.CodeProtocolViolation)
			found = true
		}
	}
	return found
}

func (a *answer) emit(k *call, kind stopgate.EventKind) *stopgate.Event {
	a.event = stopgate.Event{Kind: kind, Call: k.number, Choice: k.choice.index, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.name)}
	return &a.event
}

// refuse ends a call with a code of the codec.
func (a *answer) refuse(k *call, code stopgate.Code) {
	if k.ended {
		return
	}
	k.ended, k.refused = true, true
	k.partial = nil
	e := a.emit(k, stopgate.CallRefused)
	e.Code = code
	a.sink.Event(e)
}

// refuseOpen refuses every call that has not ended.
func (a *answer) refuseOpen(code stopgate.Code) {
	for _, k := range a.list {
		a.refuse(k, code)
	}
}

// feed passes argument text to the sink.
func (a *answer) feed(k *call, text []byte) {
	e := a.emit(k, stopgate.CallArguments)
	e.Args = text
	a.sink.Event(e)
}

// finish ends the calls of a candidate.
func (a *answer) finish(c *choice, end stopgate.End) {
	c.end = end
	for _, k := range c.calls {
		switch {
		case k.ended:
			continue
		case k.open && end == stopgate.Ended: // its last piece is missing
			a.refuse(k, stopgate.CodeProtocolViolation)
			continue
		}
		k.ended = true
		e := a.emit(k, stopgate.CallEnded)
		e.End = end
		a.sink.Event(e)
	}
	a.event = stopgate.Event{Kind: stopgate.TurnEnded, Choice: c.index, End: end}
	a.sink.Event(&a.event)
}

// finishAll ends the calls of all candidates.
func (a *answer) finishAll() {
	for _, c := range a.choices {
		if len(c.calls) == 0 {
			continue
		}
		end := c.end
		if !c.finished {
			end = stopgate.Truncated
		}
		a.finish(c, end)
	}
}

// endOf returns how a finish reason ends the buffered calls. The API has none for calls.
func endOf(reason jsonstream.Value) stopgate.End {
	if reason.IsText("STOP") {
		return stopgate.Ended
	}
	return stopgate.Truncated
}
