package anthropic

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// frame is the parsed payload of one event.
type frame struct {
	typ   string
	index int // of a content block; -1 if there is none
	block jsonstream.Value
	delta jsonstream.Value
	root  jsonstream.Value

	message, contents jsonstream.Value // members "message" and "content"
	strayCall         bool             // a member that no client reads contains calls
}

// The members that clients read. Some clients would read a lookalike of such a name and
// others would not, so it makes the response malformed.
var (
	frameNames   = []string{"type", "index", "content_block", "delta", "message", "error"}
	startNames   = []string{"type", "role", "content", "stop_reason", "usage"}
	blockNames   = []string{"type", "id", "name", "input", "caller"}
	deltaNames   = []string{"type", "partial_json", "stop_reason"}
	messageNames = []string{"type", "role", "content", "stop_reason"}
)

// read parses the members of an event. It returns false if clients could parse the event
// differently.
func (f *frame) read(root jsonstream.Value) bool {
	*f = frame{index: -1, root: root}
	for k, v := range root.Members() {
		switch key := provider.Key(k); string(key) {
		case "type":
			if v.Kind() != jsonstream.String {
				return false
			}
			f.typ = typeName(v)
		case "index":
			n, ok := provider.SmallInt(v)
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
			if provider.IsLookalike(key, frameNames...) {
				return false
			}
			f.strayCall = f.strayCall || provider.IsStrayCall(key, v)
		}
	}
	f.strayCall = f.strayCall || provider.HasStrayCall(f.block) || provider.HasStrayCall(f.delta) || provider.HasStrayCall(f.message)
	return f.typ != "" && provider.ExactNames(f.block, blockNames) && provider.ExactNames(f.delta, deltaNames)
}

// misplacedIn reports whether a body contains a call in a member that belongs to events of
// a stream.
func misplacedIn(root jsonstream.Value) bool {
	message, _ := root.Get("message")
	content, _ := message.Get("content")
	block, ok := root.Get("content_block")
	return hasCall(content) || ok && kindOf(block).call()
}

// misplaced reports whether an event contains a call where none belongs (L14): a block or a
// message with blocks, in an event of another type.
func (f *frame) misplaced() bool {
	if f.strayCall || f.block.IsValid() && f.typ != blockStart && kindOf(f.block).call() || hasCall(f.contents) {
		return true
	}
	if f.message.IsValid() && f.typ != "message_start" {
		if content, ok := f.message.Get("content"); ok && hasCall(content) {
			return true
		}
	}
	if f.typ == "message_delta" {
		content, _ := f.delta.Get("content")
		return hasCall(content)
	}
	return false
}

// hasCall reports whether a list of blocks contains a call.
func hasCall(list jsonstream.Value) bool {
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

// typeName returns the type of an event, without a copy for the known ones.
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

// appendNamed forwards an event unchanged. An event without an event line gets one, because
// two SDKs ignore it otherwise.
func appendNamed(dst []byte, ev *sse.Event, typ string) []byte {
	if len(ev.Type) > 0 {
		return ev.AppendTo(dst)
	}
	return appendFrame(dst, typ, ev.Data)
}

// appendEdited appends an event with an edited payload.
func appendEdited(dst []byte, ev *sse.Event, typ string, edits provider.Edits) []byte {
	if len(ev.Type) == 0 {
		return appendFrame(dst, typ, edits.AppendTo(nil, ev.Data, 0, len(ev.Data)))
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst = edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// appendFrame appends an event with its name. It replaces line ends between members, which
// would break the framing.
func appendFrame(dst []byte, typ string, data []byte) []byte {
	dst = sse.AppendEventStart(dst, eventName(typ))
	for _, c := range data {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return sse.AppendEventEnd(dst)
}

// eventName returns typ if it can be written in an event line, otherwise "": clients know
// no such event.
func eventName(typ string) string {
	for i := range len(typ) {
		if c := typ[i]; c < ' ' || c == 0x7f {
			return ""
		}
	}
	return typ
}
