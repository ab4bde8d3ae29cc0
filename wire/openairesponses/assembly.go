package openairesponses

import (
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// maxItems bounds the state of one response.
const maxItems = 1 << 16

// itemAdded handles the start of an item. Items start in order and without gaps:
// clients put them into a list and find them by their position.
func (s *stream) itemAdded(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case len(s.items) == maxItems:
		return dst, wire.OverLimit()
	case !s.begun, s.frame.index != len(s.items), s.frame.item.Kind() != jsonstream.Object:
		return dst, wire.Malformed(nil)
	}
	it := &item{held: len(s.queue) > 0}
	s.items = append(s.items, it)
	kind := s.kindOf(s.frame.item)
	if !kind.call() {
		if kind == provider {
			s.notes.Pass(text(s.frame.item, "type"))
		}
		s.openItems++
		return s.pass(dst, ev)
	}
	k := s.start(s.frame.item, kind, s.frame.index)
	it.call, it.held = k, true
	s.queue = append(s.queue, heldEvent{call: k})
	s.ours = true
	if args, ok := s.frame.item.Get("arguments"); ok && kind == function && args.Kind() == jsonstream.String {
		if said := s.decoded(args); len(said) > 0 {
			k.early, k.first.text = true, maphash.Bytes(s.seed, said)
		}
	}
	k.added = s.hold(k, s.stripped(ev.Data, k.kind))
	return dst, nil
}

// stripped is the payload of an item event without the item's arguments.
func (s *stream) stripped(data []byte, kind kind) []byte {
	s.edits = s.edits[:0]
	if v, ok := s.frame.item.Get(kind.member()); ok {
		s.edits.Replace(v, empty(kind))
	} else if kind.text() {
		// Clients add the deltas to what stands here.
		_, end := s.frame.item.Span()
		s.edits.Insert(end-1, []byte(`,"`+kind.member()+`":""`))
	}
	kept := s.edits.AppendTo(nil, data, 0, len(data))
	for i, c := range kept {
		if c == '\n' || c == '\r' { // white space between members
			kept[i] = ' '
		}
	}
	return kept
}

// empty is what stands in the place of arguments in a template.
func empty(kind kind) []byte {
	if kind.text() {
		return []byte(`""`)
	}
	return []byte(`null`)
}

// argument handles an event that carries arguments.
func (s *stream) argument(ev *sse.Event) error {
	i := s.frame.index
	if i < 0 || i >= len(s.items) || s.items[i].closed {
		return wire.Malformed(nil)
	}
	k := s.items[i].call
	switch {
	case k == nil:
		return wire.UnknownCall()
	case s.frame.itemID.IsValid() && !s.frame.itemID.IsText(k.item):
		return wire.Malformed(nil)
	}
	s.carry(k, ev)
	return nil
}

// carry gives a call what an event says about its arguments.
func (s *stream) carry(k *call, ev *sse.Event) {
	e := carriers[s.frame.typ]
	v, _ := s.frame.root.Get(e.member)
	switch {
	case k.kind != e.kind || v.Kind() != jsonstream.String:
		s.refuse(k, stopgate.CodeProtocolViolation)
	case !e.kind.text():
		at, _ := s.frame.root.Get("command_index")
		s.piece(k, at, v, e.whole)
	case !e.whole:
		s.delta(k, s.decoded(v), within(v))
		s.learnCall(ev, k)
	default:
		if name, ok := s.frame.root.Get("name"); ok && wire.Present(name) && !name.IsText(k.name) {
			s.refuse(k, stopgate.CodeEnvelopeMismatch)
		}
		s.whole(k, v)
	}
}

// carriers are the events that carry arguments.
var carriers = map[string]struct {
	kind   kind
	member string
	whole  bool // what came in pieces before, in one
}{
	argumentsDelta: {function, "delta", false},
	argumentsDone:  {function, "arguments", true},
	inputDelta:     {custom, "delta", false},
	inputDone:      {custom, "input", true},
	commandAdded:   {shell, "command", false},
	commandDelta:   {shell, "delta", false},
	commandDone:    {shell, "command", true},
	diffDelta:      {applyPatch, "delta", false},
	diffDone:       {applyPatch, "diff", true},
}

// itemDone handles the finished item.
func (s *stream) itemDone(dst []byte, ev *sse.Event) ([]byte, error) {
	i := s.frame.index
	if i < 0 || i >= len(s.items) || s.items[i].closed || s.frame.item.Kind() != jsonstream.Object {
		return dst, wire.Malformed(nil)
	}
	it := s.items[i]
	it.closed = true
	kind := s.kindOf(s.frame.item)
	if it.call == nil {
		if kind.call() {
			return dst, wire.UnknownCall()
		}
		s.openItems--
		s.finished += wire.Generated(s.frame.item)
		s.gist.keep(i, s.frame.item.Raw())
		return s.pass(dst, ev)
	}
	s.close(it.call, s.frame.item, kind)
	it.call.done = s.hold(it.call, s.stripped(ev.Data, it.call.kind))
	return dst, nil
}

// terminal handles the end of the response: its output is the last copy of every
// item, and may hold calls that stand nowhere else (W43).
func (s *stream) terminal(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if !s.begun || s.frame.response.Kind() != jsonstream.Object {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	if err := s.lastCopies(); err != nil {
		return dst, wire.Nothing, err
	}
	s.answer(s.frame.response)
	s.response = text(s.frame.response, "id")
	if len(s.list) == 0 {
		s.ended = true
		return s.write(dst, ev), wire.Finished, nil
	}
	end := stopgate.Truncated
	if status, _ := s.frame.response.Get("status"); s.frame.typ == "response.completed" && (!wire.Present(status) || status.IsText("completed")) {
		end = stopgate.Ended
	}
	s.calls.finish(end)
	s.finish = *ev // it stays unchanged until Release
	s.waiting = true
	return dst, wire.Resolve, nil
}

// lastCopies compares the output of the terminal event with the items that were
// streamed. Servers that store nothing leave it empty.
func (s *stream) lastCopies() error {
	output, _ := s.frame.response.Get("output")
	i := -1
	for v := range output.Elements() {
		i++
		kind := s.kindOf(v)
		switch {
		case i >= len(s.items) && kind.call():
			k := s.start(v, kind, i)
			s.close(k, v, kind)
			s.only = append(s.only, k)
			s.ours = true
		case i >= len(s.items):
		case s.items[i].call != nil && kind.call():
			k := s.items[i].call
			s.same(k, v, kind)
			args, _ := v.Get(k.kind.member())
			s.whole(k, args)
		case s.items[i].call != nil, kind.call():
			return wire.Malformed(nil) // other items than those that were streamed
		}
	}
	return nil
}
