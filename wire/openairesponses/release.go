package openairesponses

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// outcome is what becomes of one call.
type outcome struct {
	value []byte // the arguments as they stand in an item, JSON; nil: denied
	args  []byte // what value says: the text of a function or a custom tool
	text  string // stands for a denied call
	told  string // what the model is told about it
}

// settle finds the outcome of every call; response is the last copy of all of them,
// with the call at each position of its output. Every call of a response without a
// normal end is denied (L6). stuck: one of the denied calls was made by code at
// the provider, which waits for its result (WIRE 3.3).
func (c *calls) settle(outcomes []wire.Release, response jsonstream.Value, at func(i int) *call) (list []outcome, stuck bool) {
	args, texts := wire.Settle(len(c.list), outcomes, func(i int) bool { return !c.list[i].refused && c.end == stopgate.Ended })
	list = make([]outcome, len(c.list))
	spelled := c.spelledIn(response, at)
	for i, k := range c.list {
		o := &list[i]
		o.text = texts[i]
		o.told = wire.Told(outcomes, i, o.text)
		switch {
		case args[i] == nil:
		case k.kind == function:
			if o.args, o.value = args[i], spelled[i]; !jsonstream.IsQuote(o.value, o.args) {
				o.value = quote(o.args, k.spelled.length)
			}
		case k.kind == custom:
			o.args, o.value = freeText(args[i])
			if o.value == nil {
				o.text = wire.DenialText("", false, "", stopgate.CodePolicyError)
			}
		default:
			o.args, o.value = args[i], args[i]
		}
		stuck = stuck || o.value == nil && k.programmed
	}
	c.pending = 0
	return list, stuck
}

// spelledIn finds the strings that hold arguments in a response, by call. What runs is
// written as we spell it; a string that is spelled so needs no other memory.
func (c *calls) spelledIn(response jsonstream.Value, at func(i int) *call) [][]byte {
	list := make([][]byte, len(c.list))
	output, _ := response.Get("output")
	i := -1
	for v := range output.Elements() {
		i++
		if k := at(i); k != nil {
			args, _ := v.Get(k.kind.member())
			list[k.number] = args.Raw()
		}
	}
	return list
}

// quote is a text as a JSON string, in memory of about the right size: that of the
// upstream's string, or what text commonly needs.
func quote(text []byte, length int) []byte {
	return jsonstream.AppendQuote(make([]byte, 0, max(length, len(text)+len(text)/16)+16), text)
}

// freeText takes the text of a custom tool out of the object that was judged.
func freeText(args []byte) (text, quoted []byte) {
	v, err := jsonstream.Parse(args, wire.EnvelopeOptions(len(args)+1))
	input, ok := v.Get("input")
	if err != nil || !ok || v.Len() != 1 || input.Kind() != jsonstream.String {
		return nil, nil
	}
	text = input.AppendText(nil)
	return text, jsonstream.AppendQuote(nil, text)
}

const stuckMessage = "A call made by code at the provider was not run."

// Release implements [wire.Stream] (WIRE 3.5).
func (s *stream) Release(dst []byte, outcomes []wire.Release, spill wire.Spill) ([]byte, error) {
	switch {
	case s.cancelled:
		return s.writeCancelled(dst, outcomes, true), nil
	case !s.waiting:
		return dst, nil
	}
	list, stuck := s.settle(outcomes, s.frame.response, s.at)
	if stuck {
		return s.Abort(dst, stopgate.CodeProtocolViolation, stuckMessage), nil
	}
	s.waiting, s.ended = false, true
	s.remember(list, finished(s.frame.response))
	dst, err := s.writeHeld(dst, list, spill)
	if err != nil {
		return dst, err
	}
	s.edits = s.edits[:0]
	s.editResponse(&s.edits, s.frame.response, s.at, list)
	if output, _ := s.frame.response.Get("output"); s.extra != "" && output.Kind() == jsonstream.Array {
		s.edits.Append(output, appendMessage(nil, s.extraID(), "completed", string(appendPart(nil, s.extra))))
	}
	return s.writeEdited(dst, &s.finish, &s.frame, spill)
}

// writeHeld appends what was held, with what became of each call, and a text of the
// gate's own behind it.
func (s *stream) writeHeld(dst []byte, list []outcome, spill wire.Spill) ([]byte, error) {
	queue := s.queue
	s.queue, s.held = nil, 0
	var err error
	for i := range queue {
		h := &queue[i]
		if h.call != nil {
			dst, err = s.writeCall(dst, h.call, &list[h.call.number], spill)
		} else {
			s.reread(h.ev.Data)
			s.edits = s.edits[:0]
			dst, err = s.writeEdited(dst, &h.ev, &s.kept.frame, spill)
		}
		if err == nil {
			dst, err = spill.Over(dst)
		}
		if err != nil {
			return dst, err
		}
	}
	if dst, err = s.writeOnly(dst, list, spill); err != nil {
		return dst, err
	}
	if s.extra != "" {
		dst = s.message(dst, s.extraID(), s.written, s.extra)
		s.written++
	}
	return dst, nil
}

// extraID is the id of the message with a text of the gate's own.
func (s *stream) extraID() string { return MessagePrefix + "end_" + s.response }

// reread reads our own copy of an event again. It was read before, so this cannot
// fail; if it did, nothing would be found in it.
func (s *stream) reread(data []byte) {
	_ = scan(&s.kept.doc, data, s.o.MaxBytes, nil)
	s.kept.frame.read(s.kept.doc.Root())
}

// at is the call at a position of the output, nil for none.
func (s *stream) at(i int) *call {
	if i < len(s.items) {
		return s.items[i].call
	}
	for _, k := range s.only {
		if k.index == i {
			return k
		}
	}
	return nil
}

// writeOnly appends the calls that stood in the terminal event alone as if they
// had been streamed, where the client has every item in front of them (WIRE 3.4).
func (s *stream) writeOnly(dst []byte, list []outcome, spill wire.Spill) ([]byte, error) {
	s.written = len(s.items)
	for _, k := range s.only {
		if k.index != s.written {
			break
		}
		s.written++
		o := &list[k.number]
		if o.value != nil {
			k.added, k.done = s.invent(k)
		}
		var err error
		if dst, err = s.writeCall(dst, k, o, spill); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// invent makes the item events of a call out of the terminal event.
func (s *stream) invent(k *call) (added, done []byte) {
	output, _ := s.frame.response.Get("output")
	v, _ := output.Index(k.index)
	from, to := v.Span()
	s.edits = s.edits[:0]
	if args, ok := v.Get(k.kind.member()); ok {
		s.edits.Replace(args, empty(k.kind))
	}
	item := s.edits.AppendTo(nil, s.finish.Data, from, to)
	event := func(typ string) []byte {
		b := s.openBare(typ, k.index)
		return append(append(append(b, `,"item":`...), item...), '}')
	}
	return event(itemAdded), event(itemDone)
}

// writeCall appends what becomes of a call.
func (s *stream) writeCall(dst []byte, k *call, o *outcome, spill wire.Spill) ([]byte, error) {
	if o.value == nil {
		return s.message(dst, messageID(k), k.index, o.text), nil
	}
	var err error
	if !k.kind.text() {
		if dst, err = s.template(dst, itemAdded, k.added, k, o.value, spill); err != nil {
			return dst, err
		}
		return s.template(dst, itemDone, k.done, k, o.value, spill)
	}
	delta, whole := argumentsDelta, argumentsDone
	if k.kind == custom {
		delta, whole = inputDelta, inputDone
	}
	if dst, err = s.template(dst, itemAdded, k.added, k, nil, spill); err != nil {
		return dst, err
	}
	inside := o.value[1 : len(o.value)-1]
	for piece, rest := wire.NextQuotedPiece(inside); len(piece) > 0; piece, rest = wire.NextQuotedPiece(rest) {
		dst = append(s.open(dst, delta, k.index, k.item), `,"delta":"`...)
		if dst, err = spill.Through(dst, piece); err != nil {
			return dst, err
		}
		dst = shut(append(dst, '"'))
	}
	dst = s.open(dst, whole, k.index, k.item)
	if k.kind == function {
		dst = jsonstream.AppendQuote(append(dst, `,"name":`...), k.name)
	}
	dst = append(append(append(dst, `,"`...), k.kind.member()...), `":`...)
	if dst, err = spill.Through(dst, o.value); err != nil {
		return dst, err
	}
	return s.template(shut(dst), itemDone, k.done, k, o.value, spill)
}

// editResponse puts judged arguments and denials into the output of a response.
func (c *calls) editResponse(edits *wire.Edits, response jsonstream.Value, at func(i int) *call, list []outcome) {
	output, _ := response.Get("output")
	i := -1
	for v := range output.Elements() {
		i++
		k := at(i)
		if k == nil {
			continue
		}
		o := &list[k.number]
		if o.value == nil {
			edits.Replace(v, appendMessage(nil, messageID(k), "completed", string(appendPart(nil, o.text))))
		} else if args, ok := v.Get(k.kind.member()); ok {
			edits.Replace(args, o.value)
		}
	}
	if said, ok := response.Get("output_text"); ok && said.Kind() == jsonstream.String {
		lines := []string{said.Text()}
		for i := range list {
			if list[i].value == nil {
				lines = append(lines, list[i].text)
			}
		}
		if len(lines) > 1 {
			edits.Replace(said, jsonstream.AppendQuote(nil, strings.TrimPrefix(strings.Join(lines, "\n"), "\n")))
		}
	}
}

// openBare is the beginning of the payload of an item event, as an upstream that
// numbers its events writes it.
func (s *stream) openBare(typ string, index int) []byte {
	b := s.open(nil, typ, index, "")
	b = b[len(sse.AppendOpen(nil, typ)):]
	if s.numbered {
		s.next-- // the number is given when the event is written
	}
	return b
}
