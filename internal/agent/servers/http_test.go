package servers_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/agent/servers"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
)

// strict is a server over HTTP that supports only the revision without sessions, and refuses
// requests whose headers do not mirror their content.
type strict struct {
	mu   sync.Mutex
	seen []http.Header // of calls
}

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := jsonrpc.Read(body)
	if err != nil || m.Method == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	refuse := func(code int, why string) {
		w.WriteHeader(http.StatusBadRequest)
		w.Write(jsonrpc.AppendError(nil, m.ID, code, why, nil))
	}
	answer := func(result string) { w.Write(jsonrpc.AppendResult(nil, m.ID, []byte(result))) }
	if m.Method == "initialize" {
		refuse(-32022, "unsupported protocol version")
		return
	}
	if r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" || r.Header.Get("Mcp-Method") != m.Method {
		refuse(-32020, "the headers do not mirror the message")
		return
	}
	switch m.Method {
	case "server/discover":
		answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case "tools/list":
		answer(`{"resultType":"complete","tools":[
			{"name":"weather","inputSchema":{"type":"object","properties":{"city":{"type":"string","description":"a\u200bcity","x-mcp-header":"City"},"days":{"type":"integer","x-mcp-header":"Days"}}}},
			{"name":"bad","inputSchema":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"not a name"}}}}]}`)
	case "tools/call":
		s.mu.Lock()
		s.seen = append(s.seen, r.Header)
		s.mu.Unlock()
		args, _ := m.Params.Get("arguments")
		city, given := args.Get("city")
		want := map[string]string{"\"Berlin\"": "Berlin", "\"Z\u00fcrich\"": "=?base64?WsO8cmljaA==?="}[string(city.Raw())]
		if said, there := r.Header["Mcp-Param-City"]; r.Header.Get("Mcp-Name") != "weather" || there != given || given && said[0] != want {
			refuse(-32020, "the headers do not mirror the call")
			return
		}
		answer(`{"resultType":"complete","content":[{"type":"text","text":"rain"}],"structuredContent":{"ok":true}}`)
	}
}

// Over HTTP, in the revision without sessions, headers mirror the name of a call and its marked
// arguments; a tool with invalid marks is left out.
func TestMirroredHeaders(t *testing.T) {
	s := new(strict)
	server := httptest.NewServer(s)
	defer server.Close()
	r := start(t, func(o *servers.Options) {
		o.Servers = append(o.Servers, servers.Server{ID: "sky", Identity: "sky-id", Open: func(_ context.Context, e link.Events) (link.Link, error) {
			return link.Dial(link.Endpoint{URL: server.URL}, e)
		}})
	})
	if got := strings.Join(r.names(), " "); got != "sky__weather" {
		t.Errorf("%s: %s", got, r.told())
	}
	has(t, r.told(), "a tool is left out: bad: x-mcp-header is not a valid header name")
	for _, args := range []string{`{"city":"Berlin","days":3}`, "{\"city\":\"Z\u00fcrich\"}", `{}`} {
		if got := r.run("sky__weather", args); got.Failed || got.Text != "rain" {
			t.Errorf("%s: %+v", args, got)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) != 3 || s.seen[0].Get("Mcp-Param-Days") != "3" || s.seen[1].Get("Mcp-Param-Days") != "" {
		t.Errorf("%v", s.seen)
	}
	r.Close()
}

// Proves S24: next to the text for the model there is the server's original result, byte for byte,
// as in the MCP gateway.
func TestRawResults(t *testing.T) {
	r := start(t, nil, "good")
	r.names()
	for _, test := range []struct{ tool, args, want string }{
		{"structured", `{}`, `{"content":[],"structuredContent":{"x":1.50}}`},
		{"broken", `{}`, `{"content":[{"type":"text","text":"it broke"}],"isError":true}`},
		{"echo", `{"what":"error"}`, `{"code":-32602,"message":"no such thing"}`},
	} {
		if got := r.run("good__"+test.tool, test.args); string(got.Raw) != test.want {
			t.Errorf("%s: %s", test.tool, got.Raw)
		}
	}
	if got := r.run("good__gone", `{}`); got.Raw != nil {
		t.Errorf("%+v", got)
	}
}
