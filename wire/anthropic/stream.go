package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// stream implements [wire.Stream].
type stream struct {
	calls
	doc   jsonstream.Document
	frame frame
	edits wire.Edits // reused

	begun  bool     // message_start was seen
	blocks []*block // by the upstream's order
	next   int      // the index that our next block gets
	open   int      // blocks without a stop

	holding bool       // a tool_use was seen: this block and every later one is held
	queue   []heldItem // held events in upstream order; a call stands in it once
	usage   []byte     // the last output_tokens literal, for a cancelled upstream

	finish  sse.Event // the message_delta that ends the turn, kept until Release
	buf     []byte
	waiting bool

	over      bool // message_delta with a stop reason was seen
	stripped  bool // no call survived: later stop reasons are changed too
	cancelled bool // the upstream was cancelled, Release writes the end
	ended     bool // the terminal event was written
}

// block is one content block of the response.
type block struct {
	index  int // the upstream's
	out    int // ours, once it is known
	call   *call
	closed bool
	start  []byte // the payload of the call's first event, as a template
}

// heldItem is an event that waits for Release: a call, or a raw payload of
// another block.
type heldItem struct {
	block *block
	typ   string
	data  []byte // nil: the block's call stands here
}

// frame is one event's payload, looked at once.
type frame struct {
	typ   string
	index int // of a content block; -1 if there is none
	block jsonstream.Value
	delta jsonstream.Value
	root  jsonstream.Value
}

// frameNames are the members of an event that a client reads.
var frameNames = []string{"type", "index", "content_block", "delta", "message", "error"}

// deltaNames are the members of a delta that a client reads.
var deltaNames = []string{"type", "partial_json", "stop_reason"}

// Event implements [wire.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if s.ended {
		if ev.Dispatched {
			s.notes.Dropped++
		}
		return dst, wire.Finished, nil
	}
	if !ev.Dispatched {
		return ev.AppendTo(dst), wire.Nothing, nil
	}
	if err := s.doc.Scan(ev.Data, wire.EnvelopeOptions(s.o.MaxBytes)); err != nil {
		return dst, wire.Nothing, wire.Malformed(err)
	}
	if !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	switch s.frame.typ {
	case "message_start":
		return s.messageStart(dst, ev)
	case "content_block_start", "content_block_delta", "content_block_stop":
		return s.content(dst, ev)
	case "message_delta":
		return s.messageDelta(dst, ev)
	case "message_stop":
		return s.messageStop(dst, ev)
	case "error":
		s.refuseOpen(stopgate.CodeUpstreamError)
		s.pending, s.ended = 0, true
		return s.pass(dst, ev), wire.Finished, nil
	}
	return s.pass(dst, ev), wire.Nothing, nil
}

// read looks at the members of an event; false: it has a shape that cannot be
// read in one way only.
func (f *frame) read(root jsonstream.Value) bool {
	*f = frame{index: -1, root: root}
	for k, v := range root.Members() {
		switch key := wire.Key(k); string(key) {
		case "type":
			if v.Kind() != jsonstream.String {
				return false
			}
			f.typ = typeName(v)
		case "index":
			n, ok := small(v)
			if !ok {
				return false
			}
			f.index = n
		case "content_block":
			f.block = v
		case "delta":
			f.delta = v
		default:
			if wire.Lookalike(key, frameNames...) {
				return false
			}
		}
	}
	return f.typ != "" && plain(f.block, blockNames) && plain(f.delta, deltaNames)
}

// typeName returns an event's type, without a copy for the known ones.
func typeName(v jsonstream.Value) string {
	for _, known := range [...]string{
		"content_block_delta", "content_block_start", "content_block_stop", "message_start", "message_delta", "message_stop", "ping", "error",
	} {
		if v.IsText(known) {
			return known
		}
	}
	return v.Text()
}

// plain reports whether no member of an object only folds to a known name.
func plain(object jsonstream.Value, names []string) bool {
	for k := range object.Members() {
		if wire.Lookalike(wire.Key(k), names...) {
			return false
		}
	}
	return true
}

// small reads an index.
func small(v jsonstream.Value) (int, bool) {
	raw := v.Raw()
	if v.Kind() != jsonstream.Number || len(raw) == 0 || len(raw) > 6 {
		return 0, false
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// pass forwards an event as it is. A frame without an event line gets one: two
// SDKs do not see it otherwise (WIRE 4.3).
func (s *stream) pass(dst []byte, ev *sse.Event) []byte {
	if len(ev.Type) > 0 {
		return ev.AppendTo(dst)
	}
	return appendFrame(dst, s.frame.typ, ev.Data)
}

// appendFrame appends an event with its name. White space between members may
// hold a line end, which would break the framing.
func appendFrame(dst []byte, typ string, data []byte) []byte {
	dst = sse.AppendOpen(dst, eventName(typ))
	for _, c := range data {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return sse.AppendClose(dst)
}

// eventName keeps a type off the framing if it is no name; such an event is of no
// type that a client knows.
func eventName(typ string) string {
	for i := range len(typ) {
		if c := typ[i]; c < ' ' || c == 0x7f {
			return ""
		}
	}
	return typ
}

// messageStart begins the message. Blocks that stand in it already would reach a
// client past the gate, so it must be empty.
func (s *stream) messageStart(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	message, _ := s.frame.root.Get("message")
	content, _ := message.Get("content")
	if s.begun || content.Len() > 0 || !plain(message, []string{"content", "stop_reason", "usage"}) {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	s.begun = true
	usage, _ := message.Get("usage")
	s.keepUsage(usage)
	return s.pass(dst, ev), wire.Nothing, nil
}

func (s *stream) keepUsage(usage jsonstream.Value) {
	if n, ok := usage.Get("output_tokens"); ok && n.Kind() == jsonstream.Number {
		s.usage = append(s.usage[:0], n.Raw()...)
	}
}

// content handles the events of a content block.
func (s *stream) content(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if s.over {
		// A block behind message_delta bricks the session (WIRE 4.3 A4).
		s.notes.Dropped++
		return dst, wire.Nothing, nil
	}
	if s.frame.index < 0 {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	b := s.block(s.frame.index)
	if s.frame.typ == "content_block_start" {
		if b != nil || s.frame.block.Kind() != jsonstream.Object {
			return dst, wire.Nothing, wire.Malformed(nil)
		}
		return s.begin(dst, ev)
	}
	if b == nil || b.closed {
		return dst, wire.Nothing, wire.Malformed(nil) // A3
	}
	if s.frame.typ == "content_block_stop" {
		b.closed = true
		s.open--
	}
	if b.call == nil {
		return s.other(dst, ev, b)
	}
	if b.closed {
		s.close(b.call)
		return dst, wire.Nothing, nil
	}
	piece, ok := s.frame.delta.Get("partial_json")
	typ, _ := s.frame.delta.Get("type")
	switch {
	case !typ.IsText("input_json_delta") || !ok || piece.Kind() != jsonstream.String:
		s.refuse(b.call, stopgate.CodeProtocolViolation)
	default:
		text, direct := piece.TextBytes()
		if !direct {
			s.text = piece.AppendText(s.text[:0])
			text = s.text
		}
		s.feed(b.call, text)
	}
	return dst, wire.Nothing, nil
}

func (s *stream) block(index int) *block {
	for i := len(s.blocks) - 1; i >= 0; i-- {
		if s.blocks[i].index == index {
			return s.blocks[i]
		}
	}
	return nil
}

// maxBlocks bounds the state of one response.
const maxBlocks = 1 << 16

// begin handles the start of a block.
func (s *stream) begin(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if len(s.blocks) == maxBlocks {
		return dst, wire.Nothing, &wire.StreamError{Code: stopgate.CodeLimitExceeded, Message: "The provider's answer exceeds a limit."}
	}
	b := &block{index: s.frame.index}
	s.blocks = append(s.blocks, b)
	s.open++
	isTool, known := isCall(s.frame.block)
	if isTool {
		s.holding = true
		b.call = s.start(s.frame.block, known)
		if !b.call.refused && s.hold(b.call, len(ev.Data)) {
			b.start = append([]byte(nil), ev.Data...)
		}
		s.queue = append(s.queue, heldItem{block: b})
		return dst, wire.Nothing, nil
	}
	typ, _ := s.frame.block.Get("type")
	if name := typ.Text(); atProvider(name) {
		s.notes.NotEvaluated = append(s.notes.NotEvaluated, name)
	}
	return s.other(dst, ev, b)
}

// other forwards an event of a block that is no call, or holds it behind one.
func (s *stream) other(dst []byte, ev *sse.Event, b *block) ([]byte, wire.Need, error) {
	if !s.holding || b.out > 0 {
		if s.frame.typ == "content_block_start" {
			b.out = b.index + 1
			s.next = b.index + 1
		}
		return s.pass(dst, ev), wire.Nothing, nil
	}
	if s.held+len(ev.Data) > s.o.MaxHeld {
		return dst, wire.Nothing, &wire.StreamError{Code: stopgate.CodeLimitExceeded, Message: "The provider's answer exceeds a limit."}
	}
	s.held += len(ev.Data)
	s.queue = append(s.queue, heldItem{block: b, typ: s.frame.typ, data: append([]byte(nil), ev.Data...)})
	return dst, wire.Nothing, nil
}

// messageDelta handles the end signal of the turn. One without a stop reason is
// no end; behind a held call it waits with everything else.
func (s *stream) messageDelta(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	usage, _ := s.frame.root.Get("usage")
	s.keepUsage(usage)
	reason, _ := s.frame.delta.Get("stop_reason")
	if s.over || len(s.list) == 0 {
		s.over = s.over || wire.Present(reason)
		return s.appendMessageDelta(dst, ev), wire.Nothing, nil
	}
	if !wire.Present(reason) {
		s.held += len(ev.Data)
		s.queue = append(s.queue, heldItem{typ: s.frame.typ, data: append([]byte(nil), ev.Data...)})
		return dst, wire.Nothing, nil
	}
	s.over = true
	end := ending(reason)
	for _, b := range s.blocks {
		if b.call != nil && !b.closed && end == stopgate.Ended {
			s.refuse(b.call, stopgate.CodeProtocolViolation) // A3
		}
	}
	s.calls.finish(end)
	s.finish = ev.Clone(s.buf)
	s.buf = s.finish.Raw
	s.waiting = true
	return dst, wire.Resolve, nil
}

// appendMessageDelta writes a message_delta so that it tells the truth (A8).
func (s *stream) appendMessageDelta(dst []byte, ev *sse.Event) []byte {
	reason, _ := s.frame.delta.Get("stop_reason")
	if !s.stripped || !reason.IsText("tool_use") {
		return s.pass(dst, ev)
	}
	s.edits = s.edits[:0]
	s.edits.Replace(reason, []byte(`"end_turn"`))
	if len(ev.Type) == 0 {
		return appendFrame(dst, s.frame.typ, s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst = s.edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// messageStop is the end. Calls without an end signal were cut (L6).
func (s *stream) messageStop(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	if len(s.list) > 0 && !s.over {
		return dst, wire.Nothing, cut()
	}
	s.ended = true
	return s.pass(dst, ev), wire.Finished, nil
}

func cut() *wire.StreamError {
	return &wire.StreamError{Code: stopgate.CodeStreamTruncated, Message: "The provider's answer ended before it was complete."}
}

// EOF implements [wire.Stream]: a stream without message_stop was cut, and one
// SDK would report nothing (WIRE 4.8). A last event that lacks only its blank
// line says what it says: clients read it, and no call hangs on it.
func (s *stream) EOF(dst, tail []byte) ([]byte, error) {
	if s.ended {
		return dst, nil
	}
	if !s.stops(tail) || len(s.list) > 0 && !s.over {
		return dst, cut()
	}
	s.ended = true
	return append(dst, tail...), nil
}

// stops reports whether what the decoder had left is a whole message_stop.
func (s *stream) stops(tail []byte) bool {
	last := sse.NewDecoder(nil, sse.Limits{})
	last.Feed(append(append([]byte(nil), tail...), "\n\n"...))
	var ev sse.Event
	for {
		more, err := last.Next(&ev)
		if err != nil || !more {
			return false
		}
		if ev.Dispatched {
			return s.doc.Scan(ev.Data, wire.EnvelopeOptions(s.o.MaxBytes)) == nil && s.frame.read(s.doc.Root()) &&
				s.frame.typ == "message_stop" && (len(ev.Type) == 0 || string(ev.Type) == s.frame.typ)
		}
	}
}

// Abort implements [wire.Stream] (WIRE 4.8).
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.ended = 0, false, true
	dst = sse.AppendOpen(dst, "error")
	return sse.AppendClose(appendError(dst, "api_error", code, message))
}

// Keepalive implements [wire.Stream] (DECISIONS S17).
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if !long || !s.begun || s.ended {
		return sse.AppendKeepalive(dst)
	}
	return sse.AppendEvent(dst, "ping", []byte(`{"type": "ping"}`))
}
