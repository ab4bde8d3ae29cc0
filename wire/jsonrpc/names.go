package jsonrpc

import (
	"strings"
	"sync"
	"unicode"

	"github.com/stopgate/stopgate/jsonstream"
	"golang.org/x/text/unicode/norm"
)

// Names of members that readers of MCP messages look for, by the object they stand
// in. A name that is close to one of them is refused there.
var (
	envelopeNames = known("jsonrpc", "id", "method", "params", "result", "error")
	paramNames    = known("_meta", "name", "arguments", "uri", "cursor", "inputResponses", "requestState", "task", "taskId",
		"protocolVersion", "capabilities", "clientInfo", "progressToken", "progress", "total", "message", "requestId", "reason",
		"level", "ref", "argument", "context", "notifications", "data", "logger",
		"messages", "systemPrompt", "tools", "mode", "requestedSchema", "url", "elicitationId")
	metaNames = known("progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities",
		"io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/subscriptionId", "io.modelcontextprotocol/logLevel")
	resultNames = known("_meta", "content", "isError", "structuredContent", "resultType", "inputRequests", "requestState",
		"tools", "nextCursor", "capabilities", "protocolVersion", "serverInfo", "instructions", "supportedVersions", "ttlMs", "cacheScope", "task")
	toolNames = known("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta", "execution")
)

// known are names by what they look like to the most lenient reader; they are set up
// when they are first needed.
func known(names ...string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		m := make(map[string]string, len(names))
		for _, name := range names {
			m[folded(name)] = name
		}
		return m
	})
}

// folded is what a name looks like to the most lenient reader: without what cannot be
// seen, compatibility forms and case taken away.
func folded(name string) string {
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Z) {
			return -1
		}
		// The smallest of the code points that fold into each other stands for all.
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFKC.String(name))
	return name
}

// strange names the first member of an object that could be taken for another one.
func strange(object jsonstream.Value, known func() map[string]string) string {
	names := known()
	for key := range object.Members() {
		if name := key.Text(); strangeName(name, names) {
			return "a member's name can be taken for another one: names are exact"
		}
	}
	return ""
}

func strangeName(name string, names map[string]string) bool {
	if before, _, cut := strings.Cut(name, "\x00"); cut { // some readers stop there
		if _, close := names[folded(before)]; close {
			return true
		}
	}
	if len(name) > 128 {
		known, close := names[folded(name)]
		return close && known != name
	}
	var upper [128]byte
	for i := range len(name) {
		c := name[i]
		switch {
		case c <= ' ' || c >= 0x7f:
			known, close := names[folded(name)]
			return close && known != name
		case 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	// Of plain ASCII this is what folded says.
	known, close := names[string(upper[:len(name)])]
	return close && known != name
}

// strangeParams looks at the members of params, result, and their _meta.
func (m *Message) strangeParams() string {
	for _, part := range []struct {
		object jsonstream.Value
		names  func() map[string]string
	}{{m.Params, paramNames}, {m.Result, resultNames}} {
		if !part.object.IsValid() {
			continue
		}
		if wrong := strange(part.object, part.names); wrong != "" {
			return wrong
		}
		if meta, ok := part.object.Get("_meta"); ok && meta.Kind() == jsonstream.Object {
			if wrong := strange(meta, metaNames); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// Exact reports whether no member of a tool's definition can be taken for another one.
func Exact(definition jsonstream.Value) bool {
	return definition.Kind() == jsonstream.Object && strange(definition, toolNames) == ""
}

// methodNames are the methods that the gate treats in its own way, and what runs
// something.
var methodNames = known("initialize", "server/discover", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list",
	"resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel",
	"subscriptions/listen", "sampling/createMessage", "elicitation/create", "roots/list")

// StrangeMethod reports a method that a lenient reader could take for one that the gate
// judges, or for one that runs something: by its case, by characters that nobody sees, or
// by slashes that count for nothing (THREATS G8).
func StrangeMethod(method string) bool {
	if strangeName(method, methodNames()) {
		return true
	}
	bare, _, _ := strings.Cut(method, "\x00")
	parts := strings.FieldsFunc(folded(bare), func(r rune) bool { return r == '/' || r == '\\' || r == '.' })
	known, close := methodNames()[strings.Join(parts, "/")]
	runs := len(parts) > 1 && parts[len(parts)-1] == "CALL"
	return close && known != method || runs && !strings.HasSuffix(method, "/call") || runs && len(parts) == 2 && parts[0] == "TOOLS" && method != "tools/call"
}
