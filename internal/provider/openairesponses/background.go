package openairesponses

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	_ provider.BackgroundReader = (*stream)(nil)
	_ provider.BackgroundReader = (*laterRound)(nil)
)

// lateCalls are the calls that the provider made after the response had been cancelled.
type lateCalls struct {
	from      int // number of items that the client received
	calls     []provider.LateCall
	positions []int // their positions
}

// lateReason is the reason that the model receives for such a call.
const lateReason = "the answer was stopped at an earlier call, and this call was not made"

// ReadOn implements [provider.BackgroundReader]. It ignores an event that cannot be parsed,
// because no part of it is forwarded to a client.
func (s *stream) ReadOn(ev *sse.Event) bool {
	if !ev.Dispatched || scan(&s.doc, ev.Data, s.o.MaxBytes, nil) != nil || !s.frame.read(s.doc.Root()) {
		return false
	}
	switch typ := s.frame.typ; {
	case typ == itemDone:
		s.addLate(s.frame.index, s.frame.item)
	case typ == "error":
		return true
	case isTerminal(typ):
		output, _ := s.frame.response.Get("output")
		i := -1
		for item := range output.Elements() {
			i++
			s.addLate(i, item)
		}
		if usage, _ := s.frame.response.Get("usage"); usage.Kind() == jsonstream.Object {
			s.notes.UsageEstimated, s.notes.UsageIncomplete = false, false
			s.notes.Response.Read(s.frame.response)
		}
		return true
	}
	return false
}

// LateCalls implements [provider.BackgroundReader].
func (s *stream) LateCalls() []provider.LateCall { return s.late.calls }

// addLate processes a finished item: a call gets a result that reports that it was not
// made.
func (s *stream) addLate(index int, item jsonstream.Value) {
	kind := s.kindOf(item)
	if !kind.Call() || index < s.late.from || slices.Contains(s.late.positions, index) || len(s.late.positions) >= s.o.MaxCalls {
		return
	}
	k := &call{kind: kind, index: index, item: wire.Text(item, "id"), id: wire.Text(item, "call_id")}
	s.late.positions = append(s.late.positions, index)
	s.late.calls = append(s.late.calls, provider.LateCall{
		Call: stopgate.CallID(k.id), Tool: stopgate.ToolName(wire.ToolOf(kind, item)), Args: argumentsOf(kind, item),
	})
	s.replaced = append(s.replaced, provider.ReplacedCall{
		Message: messageID(k), Call: k.id, Item: slices.Clone(item.Raw()),
		Output: appendResult(nil, k, provider.DenialEnvelope(stopgate.CodeCancelled, lateReason)),
	})
}

// argumentsOf returns the arguments of a finished item as they are evaluated.
func argumentsOf(kind wire.Kind, item jsonstream.Value) []byte {
	v, _ := item.Get(kind.Member())
	switch kind {
	case wire.Function:
		return v.AppendText(nil)
	case wire.Custom:
		return append(jsonstream.AppendQuote([]byte(`{"input":`), v.Text()), '}')
	}
	return slices.Clone(v.Raw())
}

// ReadOn implements [provider.BackgroundReader].
func (j *laterRound) ReadOn(ev *sse.Event) bool { return j.inner.ReadOn(ev) }

// LateCalls implements [provider.BackgroundReader].
func (j *laterRound) LateCalls() []provider.LateCall { return j.inner.LateCalls() }
