package anthropic

import (
	"strings"
	"unicode"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// call is one buffered tool_use. The gate has its argument text; call stores the upstream's
// first event as a template.
type call struct {
	number     int // number of the call in stopgate.Event
	id         string
	name       string
	input      []byte // input of the block itself, if it is not empty
	deltaText  []byte // text of the deltas, stored only for the comparison with input
	hasArgs    bool   // argument text was passed to the sink
	ended      bool   // CallRefused or CallEnded was emitted
	refused    bool
	late       int64 // bytes of arguments received after the refusal
	programmed bool  // called by code at the provider
}

// calls tracks the tool calls of one response and reports them to the sink.
type calls struct {
	req      *provider.Request
	sink     provider.Sink
	o        provider.Options
	list     []*call
	pending  int
	buffered int // bytes that the codec itself buffers
	end      stopgate.End
	notes    provider.Notes
	maxLate  int64          // see LateBytes
	event    stopgate.Event // reused: a sink may use it only during its call
	text     []byte         // reused for unescaped strings
}

func newCalls(r *provider.Request, sink provider.Sink, o provider.Options) calls {
	if r == nil {
		r = &provider.Request{}
	}
	return calls{req: r, sink: sink, o: o.WithDefaults()}
}

// Pending implements [provider.Stream].
func (c *calls) Pending() int { return c.pending }

// Notes implements [provider.Stream] and [provider.Body].
func (c *calls) Notes() provider.Notes { return c.notes }

// LateBytes implements [provider.Stream].
func (c *calls) LateBytes() int64 { return c.maxLate }

// kind classifies a content block.
type kind uint8

const (
	plainContent   kind = iota // text and other content without a call
	clientCall                 // a call for the client
	unknownCall                // has the form of a call and an unknown type (L14)
	providerResult             // a result of a tool that ran at the provider
	providerCall               // a call of a tool that runs at the provider
	unknownContent             // has an unknown type
)

// call reports whether a block is a call for the client.
func (k kind) call() bool { return k == clientCall || k == unknownCall }

func kindOf(block jsonstream.Value) kind {
	typ, _ := block.Get("type")
	switch name := typ.Text(); name {
	case "tool_use":
		return clientCall
	case "text", "thinking", "redacted_thinking", "container_upload", "compaction", "fallback":
		return plainContent
	case "server_tool_use", "mcp_tool_use":
		return providerCall
	case "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result":
		return providerResult
	}
	_, name := block.Get("name")
	_, input := block.Get("input")
	if name && input || resemblesCall(typ) {
		return unknownCall
	}
	return unknownContent
}

// resemblesCall reports whether a type differs from "tool_use" only in case and in
// characters that are not letters.
func resemblesCall(typ jsonstream.Value) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, typ.Text())
	return strings.EqualFold(letters, "tooluse")
}

// noteKind records content that is forwarded without evaluation (L12), and reports results of the
// provider's tools. Content of an unknown type may be one.
func (c *calls) noteKind(k kind, block jsonstream.Value) {
	if k == providerResult || k == providerCall || k == unknownContent {
		typ, _ := block.Get("type")
		c.notes.AddNotEvaluated(typ.Text())
	}
	if c.o.Result != nil && (k == providerResult || k == unknownContent) {
		text, opaque := provider.ReadContent(block)
		c.o.Result(text, opaque || k == unknownContent)
	}
}

// start starts the call of a block.
func (c *calls) start(block jsonstream.Value, kind kind) *call {
	id, _ := block.Get("id")
	name, _ := block.Get("name")
	k := &call{number: len(c.list), id: id.Text(), name: name.Text()}
	if caller, ok := block.Get("caller"); ok && provider.Present(caller) {
		typ, _ := caller.Get("type")
		k.programmed = !typ.IsText("direct")
	}
	c.list = append(c.list, k)
	c.pending++
	c.sink.Event(c.emit(k, stopgate.CallStarted))
	switch {
	case len(c.list) > c.o.MaxCalls:
		c.refuse(k, stopgate.CodeLimitExceeded)
	case c.refuseSameID(k), k.id == "", k.name == "":
		c.refuse(k, stopgate.CodeProtocolViolation)
	case kind != clientCall, c.req.IsUnknown(stopgate.ToolName(k.name)):
		c.refuse(k, stopgate.CodePolicyNotConfigured)
	default:
		c.keepInput(k, block)
	}
	return k
}

// refuseSameID refuses earlier calls with the id of k: a result could belong to either of
// them.
func (c *calls) refuseSameID(k *call) (found bool) {
	for _, other := range c.list[:k.number] {
		if other.id == k.id {
			c.refuse(other, stopgate.CodeProtocolViolation)
			found = true
		}
	}
	return found
}

// keepInput stores arguments in the block itself. In a stream they are normally the empty
// object.
func (c *calls) keepInput(k *call, block jsonstream.Value) {
	input, ok := block.Get("input")
	switch {
	case !ok || !provider.Present(input):
	case input.Kind() == jsonstream.Object && input.Len() == 0:
	case c.reserve(k, len(input.Raw())):
		k.input = append([]byte(nil), input.Raw()...)
	}
}

func (c *calls) emit(k *call, kind stopgate.EventKind) *stopgate.Event {
	c.event = stopgate.Event{Kind: kind, Call: k.number, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.name)}
	return &c.event
}

// refuse ends a call with a code of the codec.
func (c *calls) refuse(k *call, code stopgate.Code) {
	if k.ended {
		return
	}
	k.ended, k.refused = true, true
	c.buffered -= len(k.input) + len(k.deltaText)
	k.input, k.deltaText = nil, nil
	e := c.emit(k, stopgate.CallRefused)
	e.Code = code
	c.sink.Event(e)
}

// refuseOpen refuses every call that has not ended.
func (c *calls) refuseOpen(code stopgate.Code) {
	for _, k := range c.list {
		c.refuse(k, code)
	}
}

// reserve counts bytes that the codec buffers for a call, and refuses the call if they
// exceed the limit.
func (c *calls) reserve(k *call, n int) bool {
	if c.buffered+n > c.o.MaxBuffered {
		c.refuse(k, stopgate.CodeLimitExceeded)
		return false
	}
	c.buffered += n
	return true
}

// feed passes the next chunk of a call's argument text to the sink.
func (c *calls) feed(k *call, text []byte) {
	if k.refused {
		k.late += int64(len(text))
		c.maxLate = max(c.maxLate, k.late)
	}
	if k.ended || len(text) == 0 {
		return
	}
	if k.input != nil && c.reserve(k, len(text)) {
		k.deltaText = append(k.deltaText, text...)
	}
	if k.ended {
		return
	}
	k.hasArgs = true
	e := c.emit(k, stopgate.CallArguments)
	e.Args = text
	c.sink.Event(e)
}

// close ends the argument text of a call. The input of the block is the argument text if
// there were no deltas, and must be equal to the deltas if there were (L5).
func (c *calls) close(k *call) {
	switch {
	case k.ended:
	case !k.hasArgs && k.input != nil:
		input := k.input
		c.buffered -= len(input)
		k.input = nil
		c.feed(k, input)
	case !k.hasArgs:
		c.feed(k, emptyObject)
	case k.input != nil && !sameValue(k.input, k.deltaText):
		c.refuse(k, stopgate.CodeEnvelopeMismatch)
	}
}

var emptyObject = []byte("{}")

// sameValue reports whether two texts are the same JSON value. An invalid text differs from
// every text.
func sameValue(a, b []byte) bool {
	left, err := jsonstream.Parse(a, provider.EnvelopeOptions(len(a)+1))
	if err != nil {
		return false
	}
	right, err := jsonstream.Parse(b, provider.EnvelopeOptions(len(b)+1))
	return err == nil && jsonstream.HashCanonical(left) == jsonstream.HashCanonical(right)
}

// finish ends every open call, and the turn.
func (c *calls) finish(end stopgate.End) {
	c.end = end
	for _, k := range c.list {
		if k.ended {
			continue
		}
		k.ended = true
		e := c.emit(k, stopgate.CallEnded)
		e.End = end
		c.sink.Event(e)
	}
	c.event = stopgate.Event{Kind: stopgate.TurnEnded, End: end}
	c.sink.Event(&c.event)
}

// endOf returns how a stop reason ends the buffered calls.
func endOf(reason jsonstream.Value) stopgate.End {
	if reason.IsText("tool_use") || reason.IsText("end_turn") || reason.IsText("pause_turn") {
		return stopgate.Ended
	}
	return stopgate.Truncated
}

// settle returns the arguments of the calls that run, by number, and a line for each of the
// others. Every call that is not explicitly allowed is denied, and so is every call of a
// turn without a normal end (L6). programmed reports that a denied call was made by code at
// the provider, which waits for its result.
func (c *calls) settle(outcomes []provider.CallOutcome) (args [][]byte, lines []string, programmed bool) {
	args, texts := provider.Settle(len(c.list), outcomes, func(i int) bool { return !c.list[i].refused && c.end == stopgate.Ended })
	for i, k := range c.list {
		if args[i] == nil {
			lines = append(lines, texts[i])
			programmed = programmed || k.programmed
		}
	}
	c.pending = 0
	return args, lines, programmed
}
