package openairesponses

import (
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxItems limits the state of one response.
const maxItems = 1 << 16

// itemAdded processes the start of an item. Items start in order and without gaps: clients
// store them in a list and find them by their position.
func (s *stream) itemAdded(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case len(s.items) == maxItems:
		return dst, provider.LimitExceeded()
	case !s.started, s.frame.index != len(s.items), s.frame.item.Kind() != jsonstream.Object:
		return dst, provider.Malformed(nil)
	}
	it := &item{buffered: len(s.queue) > 0}
	s.items = append(s.items, it)
	kind := s.kindOf(s.frame.item)
	if !kind.Call() {
		if kind == wire.Provider {
			s.notes.AddNotEvaluated(wire.Text(s.frame.item, "type"))
		}
		s.openItems++
		return s.pass(dst, ev)
	}
	k := s.start(s.frame.item, kind, s.frame.index)
	it.call, it.buffered = k, true
	s.queue = append(s.queue, queuedEvent{call: k})
	s.renumber = true
	if args, ok := s.frame.item.Get("arguments"); ok && kind == wire.Function && args.Kind() == jsonstream.String {
		if text := s.decoded(args); len(text) > 0 {
			k.hasFirst, k.first.text = true, maphash.Bytes(s.seed, text)
		}
	}
	k.added = s.reserve(k, s.withoutArgs(ev.Data, s.frame.item, k.kind))
	return dst, nil
}

// argument processes an event with arguments.
func (s *stream) argument(ev *sse.Event) error {
	i := s.frame.index
	if i < 0 || i >= len(s.items) || s.items[i].closed {
		return provider.Malformed(nil)
	}
	k := s.items[i].call
	switch {
	case k == nil:
		return provider.UnknownCall()
	case s.frame.itemID.IsValid() && !s.frame.itemID.IsText(k.item):
		return provider.Malformed(nil)
	}
	s.addArguments(k, ev)
	return nil
}

// addArguments adds the arguments of an event to its call.
func (s *stream) addArguments(k *call, ev *sse.Event) {
	e := carriers[s.frame.typ]
	v, _ := s.frame.root.Get(e.member)
	switch {
	case k.kind != e.kind || v.Kind() != jsonstream.String:
		s.refuse(k, stopgate.CodeProtocolViolation)
	case !e.kind.Text():
		at, _ := s.frame.root.Get("command_index")
		s.partEvent(k, at, v, e.whole)
	case !e.whole:
		s.delta(k, s.decoded(v), inside(v))
		s.learn(ev, &s.frame, k)
	default:
		if name, ok := s.frame.root.Get("name"); ok && provider.Present(name) && !name.IsText(k.name) {
			s.refuse(k, stopgate.CodeEnvelopeMismatch)
		}
		s.checkCopy(k, v)
	}
}

// carriers are the events that contain arguments.
var carriers = map[string]struct {
	kind   wire.Kind
	member string
	whole  bool // the event repeats streamed parts as a whole
}{
	argumentsDelta: {wire.Function, "delta", false},
	argumentsDone:  {wire.Function, "arguments", true},
	inputDelta:     {wire.Custom, "delta", false},
	inputDone:      {wire.Custom, "input", true},
	commandAdded:   {wire.Shell, "command", false},
	commandDelta:   {wire.Shell, "delta", false},
	commandDone:    {wire.Shell, "command", true},
	diffDelta:      {wire.ApplyPatch, "delta", false},
	diffDone:       {wire.ApplyPatch, "diff", true},
}

// itemDone processes a finished item.
func (s *stream) itemDone(dst []byte, ev *sse.Event) ([]byte, error) {
	i := s.frame.index
	if i < 0 || i >= len(s.items) || s.items[i].closed || s.frame.item.Kind() != jsonstream.Object {
		return dst, provider.Malformed(nil)
	}
	it := s.items[i]
	it.closed = true
	kind := s.kindOf(s.frame.item)
	if it.call == nil {
		if kind.Call() {
			return dst, provider.UnknownCall()
		}
		s.openItems--
		s.finished += provider.GeneratedBytes(s.frame.item)
		s.summary.add(i, s.frame.item.Raw())
		s.noteItem(s.frame.item)
		return s.pass(dst, ev)
	}
	s.close(it.call, s.frame.item, kind)
	it.call.done = s.reserve(it.call, s.withoutArgs(ev.Data, s.frame.item, it.call.kind))
	return dst, nil
}

// terminal processes the end of the response. Its output is the last copy of every item,
// and may contain calls that were not streamed (W43).
func (s *stream) terminal(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	if !s.started || s.frame.response.Kind() != jsonstream.Object {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	if err := s.checkFinalOutput(); err != nil {
		return dst, provider.Continue, err
	}
	s.readInfo(s.frame.response)
	s.response = wire.Text(s.frame.response, "id")
	if len(s.list) == 0 {
		s.ended = true
		return s.write(dst, ev), provider.Finished, nil
	}
	end := stopgate.Truncated
	if status, _ := s.frame.response.Get("status"); s.frame.typ == "response.completed" && (!provider.Present(status) || status.IsText("completed")) {
		end = stopgate.Ended
	}
	s.calls.finish(end)
	s.finish = *ev // it must not change until Release
	s.waiting = true
	return dst, provider.Resolve, nil
}

// checkFinalOutput compares the output of the terminal event with the streamed items.
// Servers that store no responses leave it empty.
func (s *stream) checkFinalOutput() error {
	output, _ := s.frame.response.Get("output")
	i := -1
	for v := range output.Elements() {
		i++
		kind := s.kindOf(v)
		switch {
		case i >= len(s.items) && kind.Call():
			k := s.start(v, kind, i)
			s.close(k, v, kind)
			s.finalCalls = append(s.finalCalls, k)
			s.renumber = true
		case i >= len(s.items):
			s.noteItem(v)
		case s.items[i].call != nil && kind.Call():
			k := s.items[i].call
			s.checkItem(k, v, kind)
			args, _ := v.Get(k.kind.Member())
			s.checkCopy(k, args)
		case s.items[i].call != nil, kind.Call():
			return provider.Malformed(nil) // the items differ from the streamed ones
		}
	}
	return nil
}
