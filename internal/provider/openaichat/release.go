package openaichat

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Release implements [provider.Stream].
func (s *stream) Release(dst []byte, outcomes []provider.CallOutcome, flush provider.Flush) ([]byte, error) {
	var err error
	switch {
	case s.cancelled:
		s.cancelled = false
		return s.cancelTail(dst, outcomes), nil
	case !s.waiting:
		return dst, nil
	}
	for i := range s.chunk.elements {
		if e := &s.chunk.elements[i]; e.endsCalls {
			if dst, err = s.endChoice(dst, e.choice, outcomes, flush); err != nil {
				return dst, err
			}
		}
	}
	s.waiting = false
	return s.splice(dst, &s.finish, finishing), nil
}

// endChoice appends the denial text and the allowed calls of a choice.
func (s *stream) endChoice(dst []byte, c *choice, outcomes []provider.CallOutcome, flush provider.Flush) ([]byte, error) {
	var lines []string
	c.released = 0
	for _, k := range c.calls {
		if line, denied := s.settle(c, k, outcomes); denied {
			lines = append(lines, line)
		} else {
			c.released++
		}
	}
	s.pending -= len(c.calls)
	if c.ownText != "" {
		dst = s.content(dst, c, c.ownText)
		c.ownText = ""
	}
	dst = s.denial(dst, c, lines)
	i := 0
	for _, k := range c.calls {
		if k.released == nil {
			continue
		}
		var err error
		if dst, err = s.writeAllowed(dst, c, k, i, flush); err != nil {
			return dst, err
		}
		k.released, k.extras = nil, nil
		i++
	}
	return dst, nil
}

// settle sets the outcome of a call. A call that is not explicitly allowed is denied, and
// so is every call of a choice without a normal end (L6).
func (a *assembly) settle(c *choice, k *call, outcomes []provider.CallOutcome) (line string, denied bool) {
	k.released = nil
	silent := false
	for _, o := range outcomes {
		if o.Call != k.number {
			continue
		}
		if o.Allowed && !k.refused && c.end == stopgate.Ended && a.setReleased(k, o.Args) {
			return "", false
		}
		line, silent = o.Text, o.Silent
	}
	if line == "" && !silent {
		line = provider.DenialText("", false, "", stopgate.CodePolicyError)
	}
	return line, true
}

// setReleased stores the text of a released call: its arguments, or for a custom tool the
// value of the member input.
func (a *assembly) setReleased(k *call, args []byte) bool {
	if len(args) == 0 {
		return false
	}
	if k.carrier != custom {
		k.released = args
		return true
	}
	root, err := jsonstream.Parse(args, provider.EnvelopeOptions(len(args)))
	if err != nil {
		return false
	}
	input, ok := root.Get("input")
	if !ok || input.Kind() != jsonstream.String || root.Len() != 1 {
		return false
	}
	k.released = input.AppendText([]byte{})
	return true
}

// denial appends one text chunk for the denied calls of a choice.
func (s *stream) denial(dst []byte, c *choice, lines []string) []byte {
	text := provider.JoinDenials(lines)
	if text == "" {
		return dst
	}
	if c.contentSent {
		text = "\n\n" + text
	}
	return s.content(dst, c, text)
}

// AddText implements [provider.TextAdder].
func (s *stream) AddText(choice int, text string) {
	for _, c := range s.choices {
		if c.index == choice {
			c.ownText += text
		}
	}
}

// content appends a chunk with a text of the gate.
func (s *stream) content(dst []byte, c *choice, text string) []byte {
	dst = openDelta(s.openChunk(dst), c)
	dst = append(dst, '{')
	if !c.roleSent {
		dst = append(dst, `"role":"assistant",`...)
	}
	dst = append(dst, `"content":`...)
	dst = jsonstream.AppendQuote(dst, text)
	dst = append(dst, `},"finish_reason":null}`...)
	c.roleSent, c.contentSent = true, true
	return closeChunk(dst)
}

// writeAllowed appends the chunks of an allowed call: one that starts it, its text in
// chunks, and the unknown members of later entries.
func (s *stream) writeAllowed(dst []byte, c *choice, k *call, index int, flush provider.Flush) ([]byte, error) {
	var first extra
	if len(k.extras) > 0 {
		first = k.extras[0]
	}
	dst = openDelta(s.openChunk(dst), c)
	dst = openCall(dst, k, index)
	if k.carrier != legacy {
		dst = append(dst, `,"id":`...)
		dst = jsonstream.AppendQuote(dst, k.id)
		dst = append(dst, `,"type":"`...)
		dst = append(append(dst, k.member()...), `",`...)
		dst = append(append(append(dst, '"'), k.member()...), `":{`...)
	}
	dst = append(dst, `"name":`...)
	dst = jsonstream.AppendQuote(dst, k.name)
	dst = append(append(append(dst, `,"`...), k.textMember()...), `":""`...)
	dst = append(dst, first.function...)
	dst = closeCall(dst, k, first.entry)
	for piece, rest := provider.NextChunk(k.released); len(piece) > 0; piece, rest = provider.NextChunk(rest) {
		var err error
		if dst, err = flush.IfFull(dst); err != nil {
			return dst, err
		}
		dst = openDelta(s.openChunk(dst), c)
		dst = openCall(dst, k, index)
		if k.carrier != legacy {
			dst = append(append(append(dst, `,"`...), k.member()...), `":{`...)
		}
		dst = append(append(append(dst, '"'), k.textMember()...), `":`...)
		dst = jsonstream.AppendQuote(dst, piece)
		dst = closeCall(dst, k, nil)
	}
	for i := 1; i < len(k.extras); i++ {
		dst = s.writeExtra(dst, c, k, index, k.extras[i])
	}
	return flush.IfFull(dst)
}

// writeExtra appends unknown members that arrived after the first entry of a call.
func (s *stream) writeExtra(dst []byte, c *choice, k *call, index int, e extra) []byte {
	dst = openDelta(s.openChunk(dst), c)
	dst = openCall(dst, k, index)
	switch {
	case k.carrier == legacy:
		dst = append(dst, e.function[1:]...)
	case len(e.function) > 0:
		dst = append(append(append(dst, `,"`...), k.member()...), `":{`...)
		dst = append(dst, e.function[1:]...)
	default:
		dst = append(dst, e.entry...)
		return closeChunk(append(dst, `}]},"finish_reason":null}`...))
	}
	return closeCall(dst, k, e.entry)
}

// member returns the member of an entry that contains the call.
func (k *call) member() string {
	if k.carrier == custom {
		return "custom"
	}
	return "function"
}

// textMember returns the member that contains its text.
func (k *call) textMember() string {
	if k.carrier == custom {
		return "input"
	}
	return "arguments"
}

// openChunk, openDelta and openCall append the fixed start of a chunk, each up to the
// position where the next one continues; closeCall and closeChunk end them.

func (s *stream) openChunk(dst []byte) []byte {
	dst = sse.AppendEventStart(dst, "")
	dst = append(append(dst, '{'), s.head...)
	return append(dst, `"choices":[`...)
}

func closeChunk(dst []byte) []byte { return sse.AppendEventEnd(append(dst, "]}"...)) }

func openDelta(dst []byte, c *choice) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(c.index), 10)
	return append(dst, `,"delta":`...)
}

func openCall(dst []byte, k *call, index int) []byte {
	if k.carrier == legacy {
		return append(dst, `{"function_call":{`...)
	}
	dst = append(dst, `{"tool_calls":[{"index":`...)
	return strconv.AppendInt(dst, int64(index), 10)
}

func closeCall(dst []byte, k *call, entry []byte) []byte {
	dst = append(dst, '}')
	if k.carrier != legacy {
		dst = append(dst, entry...)
		dst = append(dst, "}]"...)
	}
	dst = append(dst, `},"finish_reason":null}`...)
	return closeChunk(dst)
}

// CanCancel implements [provider.Stream].
func (s *stream) CanCancel() bool {
	return s.pending > 0 && s.req.N == 1 && len(s.choices) == 1 && !s.choices[0].done && !s.failed && !s.ended
}

// CanStop implements [provider.Stream].
func (s *stream) CanStop() bool {
	return len(s.head) > 0 && !s.waiting && !s.failed && !s.ended &&
		slices.ContainsFunc(s.choices, func(c *choice) bool { return !c.done })
}

// Cancel implements [provider.Stream].
func (s *stream) Cancel() {
	if !s.CanStop() {
		return
	}
	s.cancelled = true
	s.notes.UsageIncomplete = true
	s.notes.EstimateUsage(s.req.Bytes, s.generated)
	for _, c := range s.choices {
		if !c.done {
			s.cut = append(s.cut, c)
			s.assembly.finish(c, stopgate.Cancelled)
		}
	}
}

// appendUsage appends a usage object.
func appendUsage(dst []byte, t provider.Tokens) []byte {
	return fmt.Appendf(dst, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, t.Input, t.Output, t.Input+t.Output)
}

// cancelTail appends the end of a response whose upstream was cancelled, with a normal
// finish. Clients that requested usage get the last one from the provider, or an estimate.
func (s *stream) cancelTail(dst []byte, outcomes []provider.CallOutcome) []byte {
	for _, c := range s.cut {
		dst, _ = s.endChoice(dst, c, outcomes, nil)
		dst = openDelta(s.openChunk(dst), c)
		dst = closeChunk(append(dst, `{},"finish_reason":"stop"}`...))
	}
	s.ended = true
	t := s.notes.Response.Tokens
	if s.req.IncludeUsage {
		dst = append(s.openChunk(dst), `],"usage":`...)
		if !s.notes.UsageEstimated && len(s.usage) > 0 {
			dst = append(dst, s.usage...)
		} else {
			dst = appendUsage(dst, t)
		}
		dst = sse.AppendEventEnd(append(dst, '}'))
	}
	return append(dst, doneEvent...)
}
