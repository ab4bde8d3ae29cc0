package openairesponses

import (
	"hash"
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// call is one buffered call. The gate has its argument text; call stores the upstream's
// item events without it, and hashes to compare the copies of the arguments.
type call struct {
	number    int // number of the call in stopgate.Event
	kind      wire.Kind
	index     int    // position in the output of the response
	typ       string // type of the item
	item      string // id of the item
	id        string // call_id
	name      string // as written
	namespace string // as written
	tool      string // the name that rules match

	added, done []byte // events of the item, without arguments

	copies
	parts  map[int]*part
	prefix []byte // the first maxPrefix bytes of the argument text

	opened     bool // the object around free text was started
	closed     bool // the last event of the item was received
	ended      bool // CallRefused or CallEnded was emitted
	refused    bool
	late       int64 // bytes of arguments received after the refusal
	programmed bool  // called by code at the provider
}

// maxPrefix is the length of argument text that is stored for the history of a response
// that is cancelled.
const maxPrefix = 4 << 10

// part is a part of the arguments that is streamed before them: a command of a shell_call,
// or the diff of an apply_patch_call.
type part struct {
	joined      hash.Hash
	contradicts bool // its events contradict each other
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
	whole    bool           // the response is a body, which exists until the release
	quoted   []byte         // reused for free text
	expected

	response string                  // the id of the response, after Release
	replaced []provider.ReplacedCall // its denied calls
}

func newCalls(r *provider.Request, sink provider.Sink, o provider.Options) calls {
	if r == nil {
		r = &provider.Request{}
	}
	return calls{req: r, sink: sink, o: o.WithDefaults(), expected: expected{seed: maphash.MakeSeed()}}
}

// Pending implements [provider.Stream].
func (c *calls) Pending() int { return c.pending }

// readInfo reads the metadata of a response object. Its status is its finish reason.
func (c *calls) readInfo(response jsonstream.Value) {
	c.notes.Response.Read(response)
	if status, _ := response.Get("status"); !status.IsText("in_progress") {
		c.notes.Response.AddFinishReason(status)
	}
}

// Notes implements [provider.Stream] and [provider.Body].
func (c *calls) Notes() provider.Notes { return c.notes }

// LateBytes implements [provider.Stream].
func (c *calls) LateBytes() int64 { return c.maxLate }

// start starts the call of the item at this position.
func (c *calls) start(item jsonstream.Value, kind wire.Kind, index int) *call {
	k := &call{number: len(c.list), kind: kind, index: index, typ: wire.Text(item, "type"), item: wire.Text(item, "id"),
		id: wire.Text(item, "call_id"), name: wire.Text(item, "name"), namespace: wire.Text(item, "namespace"), tool: wire.ToolOf(kind, item)}
	if caller, ok := item.Get("caller"); ok && provider.Present(caller) {
		typ, _ := caller.Get("type")
		k.programmed = !typ.IsText("direct")
	}
	c.list = append(c.list, k)
	c.pending++
	c.sink.Event(c.emit(k, stopgate.CallStarted))
	switch {
	case len(c.list) > c.o.MaxCalls:
		c.refuse(k, stopgate.CodeLimitExceeded)
	case kind == wire.Unknown, k.programmed, c.req.IsUnknown(stopgate.ToolName(k.tool)):
		c.refuse(k, stopgate.CodePolicyNotConfigured)
	case c.refuseSameID(k), k.id == "", k.tool == "":
		c.refuse(k, stopgate.CodeProtocolViolation)
	}
	return k
}

// refuseSameID refuses earlier calls with the id of k: a result could belong to either of
// them (F3).
func (c *calls) refuseSameID(k *call) (found bool) {
	for _, other := range c.list[:k.number] {
		if other.id == k.id {
			c.refuse(other, stopgate.CodeProtocolViolation)
			found = true
		}
	}
	return found
}

func (c *calls) emit(k *call, kind stopgate.EventKind) *stopgate.Event {
	c.event = stopgate.Event{Kind: kind, Call: k.number, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.tool)}
	return &c.event
}

// refuse ends a call with a code of the codec.
func (c *calls) refuse(k *call, code stopgate.Code) {
	if k.ended {
		return
	}
	k.ended, k.refused = true, true
	c.buffered -= len(k.added) + len(k.done)
	k.added, k.done, k.copies, k.parts = nil, nil, copies{}, nil
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

// reserve stores bytes for a call, and refuses the call if they exceed the limit.
func (c *calls) reserve(k *call, text []byte) []byte {
	if k.ended {
		return nil
	}
	if c.buffered+len(text) > c.o.MaxBuffered {
		c.refuse(k, stopgate.CodeLimitExceeded)
		return nil
	}
	c.buffered += len(text)
	return text
}

// decoded returns the text of a string value, valid until the next call of decoded.
func (c *calls) decoded(v jsonstream.Value) []byte {
	if direct, ok := v.TextBytes(); ok {
		return direct
	}
	c.text = v.AppendText(c.text[:0])
	return c.text
}

// delta processes the next chunk of a call's argument text; raw is the chunk as it is
// written between the quotes.
func (c *calls) delta(k *call, piece, raw []byte) {
	switch {
	case k.ended, len(piece) == 0:
		if k.refused {
			k.late += int64(len(piece))
			c.maxLate = max(c.maxLate, k.late)
		}
		return
	case k.settled:
		c.refuse(k, stopgate.CodeTrailingData) // text after the complete arguments (F2)
		return
	}
	c.join(k, piece, raw)
	c.feed(k, piece)
}

// feed passes argument text to the sink. Free text becomes the value of the member input,
// which rules match.
func (c *calls) feed(k *call, text []byte) {
	k.prefix = append(k.prefix, text[:min(len(text), maxPrefix-len(k.prefix))]...)
	if k.kind == wire.Custom {
		c.openCustom(k)
		c.quoted = jsonstream.AppendQuote(c.quoted[:0], text)
		text = c.quoted[1 : len(c.quoted)-1]
	}
	c.emitArgs(k, text)
}

func (c *calls) emitArgs(k *call, text []byte) {
	if len(text) == 0 {
		return
	}
	if e := &c.event; e.Kind != stopgate.CallArguments || e.Call != k.number {
		c.emit(k, stopgate.CallArguments)
	}
	c.event.Args = text
	c.sink.Event(&c.event)
}

func (c *calls) openCustom(k *call) {
	if !k.opened {
		k.opened = true
		c.emitArgs(k, []byte(`{"input":"`))
	}
}

// checkItem refuses a call if its item differs from the earlier events (L5).
func (c *calls) checkItem(k *call, item jsonstream.Value, kind wire.Kind) {
	if kind != k.kind || wire.Text(item, "type") != k.typ || wire.Text(item, "id") != k.item || wire.Text(item, "call_id") != k.id ||
		wire.Text(item, "name") != k.name || wire.Text(item, "namespace") != k.namespace {
		c.refuse(k, stopgate.CodeEnvelopeMismatch)
	}
}

// close processes the finished item of a call.
func (c *calls) close(k *call, item jsonstream.Value, kind wire.Kind) {
	c.checkItem(k, item, kind)
	if status, ok := item.Get("status"); ok && provider.Present(status) && !status.IsText("completed") {
		c.refuse(k, stopgate.CodeStreamTruncated)
	}
	v, _ := item.Get(k.kind.Member())
	c.checkCopy(k, v)
	c.checkParts(k, v)
	if k.kind == wire.Custom && !k.ended {
		c.openCustom(k)
		c.emitArgs(k, []byte(`"}`))
	}
	k.closed = true
}

// finish ends every open call at the end of the response.
func (c *calls) finish(end stopgate.End) {
	c.end = end
	for _, k := range c.list {
		switch {
		case k.ended:
		case !k.closed && end == stopgate.Ended:
			c.refuse(k, stopgate.CodeProtocolViolation)
		default:
			k.ended = true
			e := c.emit(k, stopgate.CallEnded)
			e.End = end
			c.sink.Event(e)
		}
	}
	c.event = stopgate.Event{Kind: stopgate.TurnEnded, End: end}
	c.sink.Event(&c.event)
}
