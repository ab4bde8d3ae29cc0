package openairesponses

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// stream implements [provider.Stream].
type stream struct {
	calls
	writer
	repeats
	doc   jsonstream.Document
	frame frame // of the event that was read last
	known func(rest []byte) int

	head       []byte  // response object of response.in_progress events
	items      []*item // by position
	queue      []queuedEvent
	finalCalls []*call // calls that only the terminal event contains

	finish     sse.Event // the terminal event, stored until Release
	waiting    bool
	failed     bool // the upstream sent an error: response.failed may follow
	unexpected bool // the response has unexpected events and no call
	ended      bool // the terminal event was written

	openItems int   // number of unfinished items that are not calls
	generated int64 // bytes of text in deltas
	finished  int64 // bytes of text in finished items
	summary   summary
	cancelled bool // the upstream was cancelled; Release writes the end
	late      lateCalls

	written int    // items that the client has, after Release and CloseRound
	sent    output // output of a response that continues in another round
	ownText string // text added by the gate
}

// item is one output item.
type item struct {
	call     *call // nil: not a call
	buffered bool  // it started after a call
	closed   bool
}

// queuedEvent is an entry of the queue that waits for Release: the position of a call, or
// an event of another item.
type queuedEvent struct {
	call *call // nil: the entry is ev
	ev   sse.Event
}

// Event implements [provider.Stream].
func (s *stream) Event(dst []byte, ev *sse.Event) ([]byte, provider.Need, error) {
	switch {
	case s.ended, s.cancelled, s.waiting:
		if ev.Dispatched && string(ev.Data) != "[DONE]" {
			s.notes.Dropped++
		}
		if s.ended {
			return dst, provider.Finished, nil
		}
		return dst, provider.Continue, nil
	case !ev.Dispatched:
		return ev.AppendTo(dst), provider.Continue, nil
	case s.failed:
		return s.afterError(dst, ev)
	case s.repeats.match(ev, s.o.MaxBytes):
		if s.repeatLast() {
			dst = ev.AppendTo(dst)
		}
		return dst, provider.Continue, nil
	}
	s.template.Reset()
	if err := scan(&s.doc, ev.Data, s.o.MaxBytes, s.copiesIn(ev)); err != nil {
		return dst, provider.Continue, provider.Malformed(err)
	}
	if provider.IsOtherDialect(s.doc.Root(), Dialect{}.Name()) {
		return dst, provider.Continue, provider.WrongKind()
	}
	s.edits = s.edits[:0]
	if s.notes.RemoveStrayCalls(&s.edits, s.doc.Root(), eventShape) {
		own := ev.WithData(s.edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
		if ev = &own; scan(&s.doc, ev.Data, s.o.MaxBytes, nil) != nil {
			return dst, provider.Continue, provider.Malformed(nil)
		}
	}
	if !s.frame.read(s.doc.Root()) || len(ev.Type) > 0 && string(ev.Type) != s.frame.typ {
		return dst, provider.Continue, provider.Malformed(nil)
	}
	s.generated += provider.GeneratedBytes(s.frame.delta)
	if s.misplaced() {
		return dst, provider.Continue, provider.UnknownCall()
	}
	if s.unexpected || s.withoutCall() && s.unexpectedStart() {
		return s.passUnexpected(dst, ev)
	}
	var err error
	need := provider.Continue
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

// copiesIn prepares for an event that is long enough to contain a copy of arguments.
func (s *stream) copiesIn(ev *sse.Event) func(rest []byte) int {
	if s.parseAll || len(s.list) == 0 || len(ev.Data) < minCopy {
		return nil
	}
	from := 0
	if c := s.latest; c != nil && !isTerminal(string(ev.Type)) {
		from = c.number
	}
	s.expect(from, ev.Data)
	return s.known
}

// misplaced reports whether an event contains a call where none belongs: an item or a
// response in an event of another type (L14).
func (s *stream) misplaced() bool {
	framing := s.frame.typ == itemAdded || s.frame.typ == itemDone
	if s.frame.strayCall || s.frame.part.IsValid() && isCall(s.frame.part) {
		return true
	}
	if s.frame.output.IsValid() && slices.ContainsFunc(slices.Collect(s.frame.output.Elements()), isCall) {
		return true
	}
	return !framing && s.frame.item.IsValid() && s.kindOf(s.frame.item).Call() || !isTerminal(s.frame.typ) && s.outputHasCall(s.frame.response)
}

// created starts the response.
func (s *stream) created(dst []byte, ev *sse.Event) ([]byte, error) {
	if s.started || s.frame.response.Kind() != jsonstream.Object {
		return dst, provider.Malformed(nil)
	}
	s.started, s.response = true, wire.Text(s.frame.response, "id")
	s.head = appendHead(s.head, s.frame.response)
	s.summary.start(s.frame.response)
	s.notes.Response.Read(s.frame.response)
	return s.write(dst, ev), nil
}

// other processes every event that cannot contain a call. An event about a buffered call is
// dropped, because it is not one of the copies that are evaluated. An event about an item
// after a call is buffered with it.
func (s *stream) other(dst []byte, ev *sse.Event) ([]byte, error) {
	switch {
	case s.aboutCall():
		s.notes.Dropped++
		return dst, nil
	case s.frame.index >= len(s.items):
		return dst, provider.Malformed(nil)
	}
	if (s.frame.item.IsValid() || s.frame.response.IsValid() || s.frame.delta.IsValid()) && !harmless(s.frame.typ) {
		s.notes.AddNotEvaluated(s.frame.typ)
	}
	return s.pass(dst, ev)
}

// harmless reports whether events of this type are known to contain no call.
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

// aboutCall reports whether the event is about a buffered call, by either of its keys.
func (s *stream) aboutCall() bool {
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

// pass forwards an event, or buffers it if its item is buffered.
func (s *stream) pass(dst []byte, ev *sse.Event) ([]byte, error) {
	i := s.frame.index
	if i < 0 || len(s.queue) == 0 || i < len(s.items) && !s.items[i].buffered {
		dst = s.write(dst, ev)
		if !s.renumber {
			s.learnText(ev, &s.frame)
		}
		return dst, nil
	}
	if s.buffered+len(ev.Raw) > s.o.MaxBuffered {
		return dst, provider.LimitExceeded()
	}
	s.buffered += len(ev.Raw)
	s.queue = append(s.queue, queuedEvent{ev: ev.Clone(nil)})
	return dst, nil
}

// write appends the event that was read last, with its number.
func (s *stream) write(dst []byte, ev *sse.Event) []byte {
	s.edits = s.edits[:0]
	dst, _ = s.writeEdited(dst, ev, &s.frame, nil)
	return dst
}

// EOF implements [provider.Stream]. A stream without a terminal event was truncated.
func (s *stream) EOF(dst, _ []byte) ([]byte, provider.Need, error) {
	if s.ended || s.failed {
		s.ended = true
		return dst, provider.Finished, nil
	}
	return dst, provider.Continue, provider.Truncated()
}

// Abort implements [provider.Stream].
func (s *stream) Abort(dst []byte, code stopgate.Code, message string) []byte {
	if s.ended {
		return dst
	}
	s.refuseOpen(code)
	s.pending, s.waiting, s.cancelled, s.ended = 0, false, false, true
	s.queue = nil
	if s.failed {
		return dst // the client has received the upstream's error
	}
	if message == "" {
		message = code.Public()
	}
	dst = sse.AppendEventStart(dst, "error")
	dst = append(dst, `{"type":"error"`...)
	dst = s.appendNext(dst)
	dst = append(dst, `,"code":`...)
	dst = jsonstream.AppendQuote(dst, string(code))
	dst = append(dst, `,"message":`...)
	dst = jsonstream.AppendQuote(dst, "[stopgate] "+message)
	return sse.AppendEventEnd(append(dst, `,"param":null}`...))
}

// Keepalive implements [provider.Stream] (S17). An event of the gate needs a number, so it is
// written only while events are buffered and the gate assigns numbers.
func (s *stream) Keepalive(dst []byte, long bool) []byte {
	if !long || !s.started || s.ended || s.failed || len(s.queue) == 0 {
		return sse.AppendKeepalive(dst)
	}
	dst = sse.AppendEventStart(dst, inProgress)
	dst = append(append(dst, `{"type":"`+inProgress+`"`...), `,"response":`...)
	dst = append(dst, s.head...)
	return sse.AppendEventEnd(append(s.appendNext(dst), '}'))
}

// appendHead appends the response object of a keepalive: the members that identify the
// response, without the copy of the request that providers include.
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
