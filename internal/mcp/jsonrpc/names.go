package jsonrpc

import (
	"strings"
	"sync"
	"unicode"

	"github.com/stopgate/stopgate/jsonstream"
	"golang.org/x/text/unicode/norm"
)

// Names of members that readers of MCP messages look for, by the object that contains them.
// A lookalike of one of them is refused there.
var (
	envelopeNames = foldedNames("jsonrpc", "id", "method", "params", "result", "error")
	paramNames    = foldedNames("_meta", "name", "arguments", "uri", "cursor", "inputResponses", "requestState", "task", "taskId",
		"protocolVersion", "capabilities", "clientInfo", "progressToken", "progress", "total", "message", "requestId", "reason",
		"level", "ref", "argument", "context", "notifications", "data", "logger",
		"messages", "systemPrompt", "tools", "mode", "requestedSchema", "url", "elicitationId")
	metaNames = foldedNames("progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities",
		"io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/subscriptionId", "io.modelcontextprotocol/logLevel")
	resultNames = foldedNames("_meta", "content", "isError", "structuredContent", "resultType", "inputRequests", "requestState",
		"tools", "nextCursor", "capabilities", "protocolVersion", "serverInfo", "instructions", "supportedVersions", "ttlMs", "cacheScope", "task")
	toolNames = foldedNames("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta", "execution")
)

// foldedNames maps the folded names to the names. The map is built when it is first needed.
func foldedNames(names ...string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		m := make(map[string]string, len(names))
		for _, name := range names {
			m[fold(name)] = name
		}
		return m
	})
}

// fold returns the name as the most lenient reader compares it: without invisible
// characters, compatibility forms and case.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Z) {
			return -1
		}
		// The smallest of the code points that fold into each other represents all of them.
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFKC.String(name))
	return name
}

// lookalikeMember returns an error text if a member of the object has a lookalike name,
// otherwise "".
func lookalikeMember(object jsonstream.Value, known func() map[string]string) string {
	names := known()
	for key := range object.Members() {
		if name := key.Text(); isLookalike(name, names) {
			return "a member's name can be taken for another one: names are exact"
		}
	}
	return ""
}

func isLookalike(name string, names map[string]string) bool {
	if before, _, cut := strings.Cut(name, "\x00"); cut { // some readers stop at the NUL
		if _, close := names[fold(before)]; close {
			return true
		}
	}
	if len(name) > 128 {
		known, close := names[fold(name)]
		return close && known != name
	}
	var upper [128]byte
	for i := range len(name) {
		c := name[i]
		switch {
		case c <= ' ' || c >= 0x7f:
			known, close := names[fold(name)]
			return close && known != name
		case 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	// For plain ASCII this equals fold.
	known, close := names[string(upper[:len(name)])]
	return close && known != name
}

// checkParams checks the members of params and result, and of their _meta.
func (m *Message) checkParams() string {
	for _, group := range []struct {
		object jsonstream.Value
		names  func() map[string]string
	}{{m.Params, paramNames}, {m.Result, resultNames}} {
		if !group.object.IsValid() {
			continue
		}
		if problem := lookalikeMember(group.object, group.names); problem != "" {
			return problem
		}
		if meta, ok := group.object.Get("_meta"); ok && meta.Kind() == jsonstream.Object {
			if problem := lookalikeMember(meta, metaNames); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// HasExactNames reports whether no member of a tool's definition has a lookalike name.
func HasExactNames(definition jsonstream.Value) bool {
	return definition.Kind() == jsonstream.Object && lookalikeMember(definition, toolNames) == ""
}

// methodNames are the methods that the gate handles specially, and those that run
// something.
var methodNames = foldedNames("initialize", "server/discover", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list",
	"resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel",
	"subscriptions/listen", "sampling/createMessage", "elicitation/create", "roots/list")

// IsLookalikeMethod reports whether a lenient reader could confuse a method with one that
// the gate evaluates, or with one that runs something: by case, by invisible characters, or
// by redundant slashes (G8).
func IsLookalikeMethod(method string) bool {
	if isLookalike(method, methodNames()) {
		return true
	}
	bare, _, _ := strings.Cut(method, "\x00")
	parts := strings.FieldsFunc(fold(bare), func(r rune) bool { return r == '/' || r == '\\' || r == '.' })
	known, close := methodNames()[strings.Join(parts, "/")]
	runs := len(parts) > 1 && parts[len(parts)-1] == "CALL"
	return close && known != method || runs && !strings.HasSuffix(method, "/call") || runs && len(parts) == 2 && parts[0] == "TOOLS" && method != "tools/call"
}
