package openairesponses

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// stream implements [wire.Stream].
type stream struct {
	calls
	doc   jsonstream.Document
	frame frame // of the event that was read last
	kept  reading
	edits wire.Edits // reused
	known func(rest []byte) int

	begun bool    // response.created was seen
	head  []byte  // what our own response.in_progress says
	items []*item // by position
	queue []heldEvent
	only  []*call // calls that stand in the terminal event alone
	numbering

	// The last event, if the next one may be the same with other text, and the
	// call that it continued, nil if it was text.
	repeat    wire.Repeat
	named     []byte // its event line
	continued *call
	latest    *call // that had arguments
	slow      bool  // tests: read every event in full

	finish  sse.Event // the terminal event, kept until Release
	waiting bool
	failed  bool // the upstream sent an error: response.failed may follow
	strange bool // the events do not add up, and no call is among them
	ended   bool // the terminal event was written

	openItems int   // items that are no calls and are not finished
	generated int64 // bytes of text in deltas
	finished  int64 // and in finished items
	gist      gist
	cancelled bool // the upstream was cancelled, Release writes the end
	followed  followed

	written int    // items that the client has, after Release and Interlude
	shown   shown  // of a response that goes on in another round
	extra   string // a text of the gate's own
}

// item is one output item.
type item struct {
	call   *call // nil: no call
	held   bool  // it began behind a call
	closed bool
}

// reading is an event of which we have a copy, read again.
type reading struct {
	doc   jsonstream.Document
	frame frame
}

// heldEvent is what waits for Release: the place of a call, or an event of
// another item.
type heldEvent struct {
	call *call // nil: ev
	ev   sse.Event
}

// Event implements [wire.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, wire.Need, error) {
	switch {
	case s.ended, s.cancelled, s.waiting:
		if ev.Dispatched && string(ev.Data) != "[DONE]" {
			s.notes.Dropped++
		}
		if s.ended {
			return dst, wire.Finished, nil
		}
		return dst, wire.Nothing, nil
	case !ev.Dispatched:
		return ev.AppendTo(dst), wire.Nothing, nil
	case s.failed:
		return s.behindError(dst, ev)
	case s.repeats(ev):
		if s.again() {
			dst = ev.AppendTo(dst)
		}
		return dst, wire.Nothing, nil
	}
	s.repeat.Forget()
	if err := scan(&s.doc, ev.Data, s.o.MaxBytes, s.copiesIn(ev)); err != nil {
		return dst, wire.Nothing, wire.Malformed(err)
	}
	if wire.OfOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, wire.Nothing, wire.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.Strays(&s.edits, s.doc.Root(), eventShape) {
		own := ev.With(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; scan(&s.doc, ev.Data, s.o.MaxBytes, nil) != nil {
			return dst, wire.Nothing, wire.Malformed(nil)
		}
	}
	if !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, wire.Nothing, wire.Malformed(nil)
	}
	s.generated += wire.Generated(s.frame.delta)
	if s.misplaced() {
		return dst, wire.Nothing, wire.UnknownCall()
	}
	if s.strange || s.free() && s.oddBeginning() {
		return s.passStrange(dst, ev)
	}
	var err error
	need := wire.Nothing
	switch s.frame.typ {
	case "response.created":
		dst, err = s.created(dst, ev)
	case itemAdded:
		dst, err = s.itemAdded(dst, ev)
	case itemDone:
		dst, err = s.itemDone(dst, ev)
	case argumentsDelta, inputDelta, argumentsDone, inputDone, commandAdded, commandDelta, commandDone, diffDelta, diffDone:
		err = s.argument(ev)
	case "response.completed", "response.incomplete", "response.failed":
		dst, need, err = s.terminal(dst, ev)
	case "error":
		s.refuseOpen(stopgate.CodeUpstreamError)
		s.pending, s.queue, s.failed = 0, nil, true
		dst = s.write(dst, ev)
	default:
		dst, err = s.other(dst, ev)
	}
	return dst, need, err
}

// copiesIn prepares for an event that is long enough for a copy of arguments.
func (s *stream) copiesIn(ev *sse.Event) func(rest []byte) int {
	if s.slow || len(s.list) == 0 || len(ev.Data) < shortest {
		return nil
	}
	from := 0
	if c := s.latest; c != nil && !isTerminal(string(ev.Type)) {
		from = c.number
	}
	s.expect(from, ev.Data)
	return s.known
}

// misplaced reports whether an event has a call where none belongs: an item or a
// response in an event that is not there for it (L14).
func (s *stream) misplaced() bool {
	framing := s.frame.typ == itemAdded || s.frame.typ == itemDone
	if s.frame.stray || s.frame.part.IsValid() && plainlyCall(s.frame.part) {
		return true
	}
	if s.frame.output.IsValid() && slices.ContainsFunc(slices.Collect(s.frame.output.Elements()), plainlyCall) {
		return true
	}
	return !framing && s.frame.item.IsValid() && s.kindOf(s.frame.item).call() || !isTerminal(s.frame.typ) && s.carriesCall(s.frame.response)
}

// created begins the response.
func (s *stream) created(dst []byte, ev *sse.Event) ([]byte, error) {
	if s.begun || s.frame.response.Kind() != jsonstream.Object {
		return dst, wire.Malformed(nil)
	}
	s.begun, s.response = true, text(s.frame.response, "id")
	s.head = appendHead(s.head, s.frame.response)
	s.gist.begin(s.frame.response)
	s.notes.Answer.Read(s.frame.response)
	return s.write(dst, ev), nil
}

// other handles every event that can carry no call. An event about a held call says something about it that is
// judged by none of its copies: it is dropped. An event about an item behind a
// call waits with it.
func (s *stream) other(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case s.ofCall():
		s.notes.Dropped++
		return dst, nil
	case s.frame.index >= len(s.items):
		return dst, wire.Malformed(nil)
	}
	if (s.frame.item.IsValid() || s.frame.response.IsValid() || s.frame.delta.IsValid()) && !harmless(s.frame.typ) {
		s.notes.Pass(s.frame.typ)
	}
	return s.pass(dst, ev)
}

// harmless reports whether an event's type is known to carry no call.
func harmless(typ string) bool {
	rest, ok := strings.CutPrefix(typ, "response.")
	if !ok {
		return false
	}
	for _, known := range [...]string{
		"in_progress", "queued", "content_part.", "output_text.", "refusal.", "reasoning_", "audio.", "web_search_call.", "file_search_call.",
		"code_interpreter_call", "image_generation_call.", "mcp_call", "mcp_list_tools.", "shell_call_output_content.",
	} {
		if strings.HasPrefix(rest, known) {
			return true
		}
	}
	return false
}

// ofCall reports whether the event is about a held call, by either of its keys.
func (s *stream) ofCall() bool {
	if i := s.frame.index; i >= 0 && i < len(s.items) && s.items[i].call != nil {
		return true
	}
	for _, k := range s.list {
		if k.item != "" && s.frame.itemID.IsText(k.item) {
			return true
		}
	}
	return false
}

// pass forwards an event, or holds it if its item is held.
func (s *stream) pass(dst []byte, ev *sse.Event) ([]byte, error) {
	i := s.frame.index
	if i < 0 || len(s.queue) == 0 || i < len(s.items) && !s.items[i].held {
		dst = s.write(dst, ev)
		s.learnText(ev)
		return dst, nil
	}
	if s.held+len(ev.Raw) > s.o.MaxHeld {
		return dst, wire.OverLimit()
	}
	s.held += len(ev.Raw)
	s.queue = append(s.queue, heldEvent{ev: ev.Clone(nil)})
	return dst, nil
}

// EOF implements [wire.Stream]: a stream without a terminal event was cut.
func (s *stream) EOF(dst, _ []byte) ([]byte, wire.Need, error) {
	if s.ended || s.failed {
		s.ended = true
		return dst, wire.Finished, nil
	}
	return dst, wire.Nothing, wire.Cut()
}

// Abort implements [wire.Stream] (WIRE 3.6).
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.cancelled, s.ended = 0, false, false, true
	s.queue = nil
	if s.failed {
		return dst // the client has the upstream's error
	}
	if message == "" {
		message = code.Public()
	}
	dst = sse.AppendOpen(dst, "error")
	dst = append(dst, `{"type":"error"`...)
	dst = s.appendNext(dst)
	dst = append(dst, `,"code":`...)
	dst = jsonstream.AppendQuote(dst, string(code))
	dst = append(dst, `,"message":`...)
	dst = jsonstream.AppendQuote(dst, "[stopgate] "+message)
	return sse.AppendClose(append(dst, `,"param":null}`...))
}

// Keepalive implements [wire.Stream] (DECISIONS S17). An event of ours takes a
// number, so it comes only while something is held and numbers are ours.
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if !long || !s.begun || s.ended || s.failed || len(s.queue) == 0 {
		return sse.AppendKeepalive(dst)
	}
	dst = sse.AppendOpen(dst, inProgress)
	dst = append(append(dst, `{"type":"`+inProgress+`"`...), `,"response":`...)
	dst = append(dst, s.head...)
	return sse.AppendClose(append(s.appendNext(dst), '}'))
}

// appendHead appends the response object of a keepalive: what identifies the
// response, without the copy of the request that providers put into it.
func appendHead(dst []byte, response jsonstream.Value) []byte {
	dst = append(dst, '{')
	for _, name := range [...]string{"id", "object", "created_at", "model"} {
		if v, ok := response.Get(name); ok && len(v.Raw()) <= 256 {
			dst = append(append(append(dst, '"'), name...), `":`...)
			dst = append(append(dst, v.Raw()...), ',')
		}
	}
	return append(dst, `"status":"in_progress","output":[]}`...)
}
