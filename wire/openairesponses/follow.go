package openairesponses

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

var (
	_ wire.Follower = (*stream)(nil)
	_ wire.Follower = (*laterRound)(nil)
)

// followed are the calls of a response that its provider went on with after it had been
// cancelled here.
type followed struct {
	from  int // items before that were the client's
	calls []wire.Followed
	at    []int // their positions
}

// notMade is the reason that the model gets for such a call.
const notMade = "the answer was stopped at an earlier call, and this call was not made"

// Follow implements [wire.Follower]. An event that cannot be read says nothing: nothing of
// it goes to a client.
func (s *stream) Follow(ev *sse.Event) bool {
	if !ev.Dispatched || scan(&s.doc, ev.Data, s.o.MaxBytes, nil) != nil || !s.frame.read(s.doc.Root()) {
		return false
	}
	switch typ := s.frame.typ; {
	case typ == itemDone:
		s.follow(s.frame.index, s.frame.item)
	case typ == "error":
		return true
	case isTerminal(typ):
		output, _ := s.frame.response.Get("output")
		i := -1
		for item := range output.Elements() {
			i++
			s.follow(i, item)
		}
		if usage, _ := s.frame.response.Get("usage"); usage.Kind() == jsonstream.Object {
			s.notes.UsageEstimated, s.notes.UsageIncomplete = false, false
			s.notes.Answer.Read(s.frame.response)
		}
		return true
	}
	return false
}

// Followed implements [wire.Follower].
func (s *stream) Followed() []wire.Followed { return s.followed.calls }

// follow takes a finished item: a call gets a result that says that it was not made.
func (s *stream) follow(index int, item jsonstream.Value) {
	kind := s.kindOf(item)
	if !kind.call() || index < s.followed.from || slices.Contains(s.followed.at, index) || len(s.followed.at) >= s.o.MaxCalls {
		return
	}
	k := &call{kind: kind, index: index, item: text(item, "id"), id: text(item, "call_id")}
	s.followed.at = append(s.followed.at, index)
	s.followed.calls = append(s.followed.calls, wire.Followed{
		Call: stopgate.CallID(k.id), Tool: stopgate.ToolName(toolOf(kind, item)), Args: argumentsOf(kind, item),
	})
	s.replaced = append(s.replaced, wire.Replaced{
		Message: messageID(k), Call: k.id, Item: slices.Clone(item.Raw()),
		Output: appendResult(nil, k, wire.Envelope(stopgate.CodeCancelled, notMade)),
	})
}

// argumentsOf are the arguments of a finished item as they are judged.
func argumentsOf(kind kind, item jsonstream.Value) []byte {
	v, _ := item.Get(kind.member())
	switch kind {
	case function:
		return v.AppendText(nil)
	case custom:
		return append(jsonstream.AppendQuote([]byte(`{"input":`), v.Text()), '}')
	}
	return slices.Clone(v.Raw())
}

// Follow implements [wire.Follower].
func (j *laterRound) Follow(ev *sse.Event) bool { return j.inner.Follow(ev) }

// Followed implements [wire.Follower].
func (j *laterRound) Followed() []wire.Followed { return j.inner.Followed() }
