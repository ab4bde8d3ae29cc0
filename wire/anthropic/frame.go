package anthropic

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// frame is one event's payload, looked at once.
type frame struct {
	typ   string
	index int // of a content block; -1 if there is none
	block jsonstream.Value
	delta jsonstream.Value
	root  jsonstream.Value

	message, contents jsonstream.Value // of that name
	stray             bool             // there are calls in a member that no client reads
}

// The members that a client reads. One that only folds to such a name could be
// read by some clients and not by others, so it makes the answer malformed.
var (
	frameNames   = []string{"type", "index", "content_block", "delta", "message", "error"}
	startNames   = []string{"type", "role", "content", "stop_reason", "usage"}
	blockNames   = []string{"type", "id", "name", "input", "caller"}
	deltaNames   = []string{"type", "partial_json", "stop_reason"}
	messageNames = []string{"type", "role", "content", "stop_reason"}
)

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
			n, ok := wire.Small(v)
			if !ok {
				return false
			}
			f.index = n
		case "content_block":
			f.block = v
		case "delta":
			f.delta = v
		case "message":
			f.message = v
		case "content":
			f.contents = v
		default:
			if wire.Lookalike(key, frameNames...) {
				return false
			}
			f.stray = f.stray || wire.StrayCall(key, v)
		}
	}
	f.stray = f.stray || wire.HoldsStrayCall(f.block) || wire.HoldsStrayCall(f.delta) || wire.HoldsStrayCall(f.message)
	return f.typ != "" && wire.Plain(f.block, blockNames) && wire.Plain(f.delta, deltaNames)
}

// misplacedIn reports whether a body has a call where none belongs: within what would be
// an event of a stream.
func misplacedIn(root jsonstream.Value) bool {
	message, _ := root.Get("message")
	content, _ := message.Get("content")
	block, ok := root.Get("content_block")
	return holdsCall(content) || ok && kindOf(block).call()
}

// misplaced reports whether an event has a call where none belongs (L14): a block, or a
// message with blocks, in an event that is not there for it.
func (f *frame) misplaced() bool {
	if f.stray || f.block.IsValid() && f.typ != blockStart && kindOf(f.block).call() || holdsCall(f.contents) {
		return true
	}
	if f.message.IsValid() && f.typ != "message_start" {
		if content, ok := f.message.Get("content"); ok && holdsCall(content) {
			return true
		}
	}
	if f.typ == "message_delta" {
		content, _ := f.delta.Get("content")
		return holdsCall(content)
	}
	return false
}

// holdsCall reports whether a list of blocks has a call.
func holdsCall(list jsonstream.Value) bool {
	if !list.IsValid() {
		return false
	}
	for block := range list.Elements() {
		if kindOf(block).call() {
			return true
		}
	}
	return false
}

// typeName returns an event's type, without a copy for the known ones.
func typeName(v jsonstream.Value) string {
	for _, known := range [...]string{
		blockDelta, blockStart, blockStop, "message_start", "message_delta", "message_stop", "ping", "error",
	} {
		if v.IsText(known) {
			return known
		}
	}
	return v.Text()
}

// appendNamed forwards an event as it is. A frame without an event line gets one:
// two SDKs do not see it otherwise (WIRE 4.3).
func appendNamed(dst []byte, ev *sse.Event, typ string) []byte {
	if len(ev.Type) > 0 {
		return ev.AppendTo(dst)
	}
	return appendFrame(dst, typ, ev.Data)
}

// appendEdited appends an event with some of its payload changed.
func appendEdited(dst []byte, ev *sse.Event, typ string, edits wire.Edits) []byte {
	if len(ev.Type) == 0 {
		return appendFrame(dst, typ, edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst = edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
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
