package protocol

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Modern is the protocol revision without sessions. Messages are not translated between it and
// the revisions with initialize.
const Modern = "2026-07-28"

// Legacy are the protocol revisions with sessions, oldest first.
var Legacy = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// Members of _meta in the revision without sessions.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// Meta is the member _meta of a request. Values are invalid if the request lacks them.
type Meta struct {
	Version      string
	Traceparent  string
	Tracestate   string
	Token        jsonstream.Value // progress token
	Capabilities jsonstream.Value
}

// ReadMeta reads the member _meta of params.
func ReadMeta(params jsonstream.Value) (r Meta) {
	meta, ok := jsonrpc.MemberOf(params, "_meta")
	if !ok {
		return r
	}
	r.Version, r.Traceparent, r.Tracestate = jsonrpc.TextOf(meta, MetaVersion), jsonrpc.TextOf(meta, "traceparent"), jsonrpc.TextOf(meta, "tracestate")
	if token, ok := meta.Get("progressToken"); ok && jsonrpc.ParseID(token) != "" {
		r.Token = token
	}
	r.Capabilities, _ = meta.Get(MetaCapabilities)
	return r
}

// Elicits reports whether a client declares that it can ask its user.
func Elicits(capabilities jsonstream.Value) bool {
	_, ok := jsonrpc.MemberOf(capabilities, "elicitation")
	return ok
}

// NameOf returns the member that the header Mcp-Name mirrors, "" for methods without one.
func NameOf(m *jsonrpc.Message) string {
	switch m.Method {
	case "tools/call", "prompts/get":
		return jsonrpc.TextOf(m.Params, "name")
	case "resources/read":
		return jsonrpc.TextOf(m.Params, "uri")
	}
	return ""
}

// IsNotification reports whether all peers treat the method as a notification.
func IsNotification(method string) bool {
	return strings.HasPrefix(method, "notifications/") && !jsonrpc.IsLookalikeMethod(method)
}

// EnvelopeText returns the text of a denial that the model reads (G2-15, S10).
func EnvelopeText(e stopgate.Envelope) []byte {
	var o jsonrpc.Object
	return o.Text("status", e.Status).Text("code", string(e.Code)).Text("publicReason", e.PublicReason).Raw("data", []byte("null")).End()
}

// ToolResult returns a tool result whose content is an envelope.
func ToolResult(e stopgate.Envelope, isError, modern bool) []byte {
	var text, o jsonrpc.Object
	text.Text("type", "text").Text("text", string(EnvelopeText(e)))
	if modern {
		o.Text("resultType", "complete")
	}
	return o.Raw("content", append(append([]byte("["), text.End()...), ']')).Bool("isError", isError).End()
}
