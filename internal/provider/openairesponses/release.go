package openairesponses

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// outcome is the outcome of one call.
type outcome struct {
	value  []byte // the arguments as they are written in an item, JSON; nil: denied
	args   []byte // the decoded text of value, of a function or a custom tool
	denial string // replaces a denied call
	result string // result of a denied call for the model
}

// settle returns the outcome of every call. response is the last copy of all calls, and at
// returns the call at a position of its output. Every call of a response without a normal
// end is denied (L6). programmed reports that a denied call was made by code at the
// provider, which waits for its result.
func (c *calls) settle(outcomes []provider.CallOutcome, response jsonstream.Value, at func(i int) *call) (list []outcome, programmed bool) {
	args, texts := provider.Settle(len(c.list), outcomes, func(i int) bool { return !c.list[i].refused && c.end == stopgate.Ended })
	list = make([]outcome, len(c.list))
	encoded := c.encodedArgs(response, at)
	for i, k := range c.list {
		o := &list[i]
		o.denial = texts[i]
		o.result = provider.ResultText(outcomes, i, o.denial)
		switch {
		case args[i] == nil:
		case k.kind == wire.Function:
			if o.args, o.value = args[i], encoded[i]; !k.isEncoded(o.args, o.value) {
				o.value = quote(o.args, k.encoded.length)
			}
		case k.kind == wire.Custom:
			o.args, o.value = freeText(args[i])
			if o.value == nil {
				o.denial = provider.DenialText("", false, "", stopgate.CodePolicyError)
			}
		default:
			o.args, o.value = args[i], args[i]
		}
		programmed = programmed || o.value == nil && k.programmed
	}
	c.pending = 0
	return list, programmed
}

// encodedArgs finds the argument strings of a response, by call. Released arguments are
// written by [jsonstream.AppendQuote]; a string that has this encoding already needs no
// other memory.
func (c *calls) encodedArgs(response jsonstream.Value, at func(i int) *call) [][]byte {
	list := make([][]byte, len(c.list))
	output, _ := response.Get("output")
	i := -1
	for v := range output.Elements() {
		i++
		if k := at(i); k != nil {
			args, _ := v.Get(k.kind.Member())
			list[k.number] = args.Raw()
		}
	}
	return list
}

// isEncoded reports whether a string of the response, the last copy of a call's arguments, is the
// text as [jsonstream.AppendQuote] writes it. There is one way to write an escape unless it is a long
// one or a slash: without these, the string is that of the text which it was decoded to.
func (k *call) isEncoded(args, encoded []byte) bool {
	if k.text != nil && !bytes.Contains(encoded, []byte(`\u`)) && !bytes.Contains(encoded, []byte(`\/`)) {
		return bytes.Equal(args, k.text)
	}
	return jsonstream.IsQuote(encoded, args)
}

// quote returns a text as a JSON string, in memory of approximately the right size: that of
// the upstream's string, or the typical one.
func quote(text []byte, length int) []byte {
	return jsonstream.AppendQuote(make([]byte, 0, max(length, len(text)+len(text)/16)+16), text)
}

// freeText returns the text of a custom tool from the evaluated object.
func freeText(args []byte) (text, quoted []byte) {
	v, err := jsonstream.Parse(args, provider.EnvelopeOptions(len(args)+1))
	input, ok := v.Get("input")
	if err != nil || !ok || v.Len() != 1 || input.Kind() != jsonstream.String {
		return nil, nil
	}
	text = input.AppendText(nil)
	return text, jsonstream.AppendQuote(nil, text)
}

const programmedMessage = "A call made by code at the provider was not run."

// Release implements [provider.Stream].
func (s *stream) Release(dst []byte, outcomes []provider.CallOutcome, flush provider.Flush) ([]byte, error) {
	switch {
	case s.cancelled:
		return s.writeCancelled(dst, outcomes, true), nil
	case !s.waiting:
		return dst, nil
	}
	list, programmed := s.settle(outcomes, s.frame.response, s.at)
	if programmed {
		return s.Abort(dst, stopgate.CodeProtocolViolation, programmedMessage), nil
	}
	s.waiting, s.ended = false, true
	s.addReplaced(list, finalItems(s.frame.response))
	dst, err := s.writeQueue(dst, list, flush)
	if err != nil {
		return dst, err
	}
	s.edits = s.edits[:0]
	s.editResponse(&s.edits, s.frame.response, s.at, list)
	if output, _ := s.frame.response.Get("output"); s.ownText != "" && output.Kind() == jsonstream.Array {
		s.edits.AppendElements(output, appendMessage(nil, s.ownTextID(), "completed", string(appendPart(nil, s.ownText))))
	}
	return s.writeEdited(dst, &s.finish, &s.frame, flush)
}

// writeQueue appends the queued events with the outcome of each call, and then the text
// added by the gate.
func (s *stream) writeQueue(dst []byte, list []outcome, flush provider.Flush) ([]byte, error) {
	queue := s.queue
	s.queue, s.buffered = nil, 0
	var err error
	for i := range queue {
		h := &queue[i]
		if h.call != nil {
			dst, err = s.writeCall(dst, h.call, &list[h.call.number], flush)
		} else {
			s.readAgain(h.ev.Data)
			s.edits = s.edits[:0]
			dst, err = s.writeEdited(dst, &h.ev, &s.copied.frame, flush)
		}
		if err == nil {
			dst, err = flush.IfFull(dst)
		}
		if err != nil {
			return dst, err
		}
	}
	if dst, err = s.writeFinalCalls(dst, list, flush); err != nil {
		return dst, err
	}
	if s.ownText != "" {
		dst = s.message(dst, s.ownTextID(), s.written, s.ownText)
		s.written++
	}
	return dst, nil
}

// ownTextID returns the id of the message with the text added by the gate.
func (s *stream) ownTextID() string { return wire.MessagePrefix + "end_" + s.response }

// at returns the call at a position of the output, nil if there is none.
func (s *stream) at(i int) *call {
	if i < len(s.items) {
		return s.items[i].call
	}
	for _, k := range s.finalCalls {
		if k.index == i {
			return k
		}
	}
	return nil
}

// writeFinalCalls appends the calls that only the terminal event contained as if they had
// been streamed, if the client has every item before them.
func (s *stream) writeFinalCalls(dst []byte, list []outcome, flush provider.Flush) ([]byte, error) {
	s.written = len(s.items)
	for _, k := range s.finalCalls {
		if k.index != s.written {
			break
		}
		s.written++
		o := &list[k.number]
		if o.value != nil {
			k.added, k.done = s.itemEvents(k, s.frame.response, s.finish.Data)
		}
		var err error
		if dst, err = s.writeCall(dst, k, o, flush); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// editResponse adds the edits that write evaluated arguments and denials into the output of
// a response.
func (c *calls) editResponse(edits *provider.Edits, response jsonstream.Value, at func(i int) *call, list []outcome) {
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
			edits.Replace(v, appendMessage(nil, messageID(k), "completed", string(appendPart(nil, o.denial))))
		} else if args, ok := v.Get(k.kind.Member()); ok {
			edits.Replace(args, o.value)
		}
	}
	if outputText, ok := response.Get("output_text"); ok && outputText.Kind() == jsonstream.String {
		lines := []string{outputText.Text()}
		for i := range list {
			if list[i].value == nil {
				lines = append(lines, list[i].denial)
			}
		}
		if len(lines) > 1 {
			edits.Replace(outputText, jsonstream.AppendQuote(nil, strings.TrimPrefix(strings.Join(lines, "\n"), "\n")))
		}
	}
}
