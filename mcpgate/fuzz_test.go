package mcpgate_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/session"
)

// FuzzClient sends arbitrary messages of a client. A call that reaches the server was allowed, and
// even a lenient reader finds arguments in it that the policy allows.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		call("1", "echo", `{"text":"ok"}`), call("2", "echo", `{"text":"no"}`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"ok"},"Arguments":{"text":"no"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"ok","text":"no"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"ok","TEXT":"no"}}}`,
		modernCall("3", `{"text":"ok"}`, `,"requestState":"sg1.x","inputResponses":{"stopgate.approval":{}}`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" + call("1", "echo", `{"text":"ok"}`),
		`{"jsonrpc":"2.0","method":"tools/call"}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"no"}}}`,
		`{"jsonrpc":"2.0","id":"stopgate-1","result":{}}`, `{"jsonrpc":"2.0","method":"notifications/progress"}`, `[]`,
		`{"jsonrpc":"2.0","id":9,"method":"x/call","params":{"name":"echo"}}`, `{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"x"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		server := newFake(echoTool)
		b := setup(t, "[tools.echo.policy]\nrun = [{ arg = \"/text\", prefix = \"ok\", mode = \"unattended\" }, { mode = \"deny\" }]\n", mcpgate.Settings{}, map[string]*fake{"": server})
		in, client := io.Pipe()
		ended := make(chan error, 1)
		out := &answers{done: make(chan struct{})}
		go func() {
			ended <- b.g.ServeStdio(context.Background(), session.Owner{Principal: "local", Session: "s"}, in, out)
		}()
		done := out.expect("hello")
		_, _ = io.WriteString(client, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}}`+"\n")
		<-done
		done = out.expect("the-end")
		if _, err := io.WriteString(client, text+"\n"+`{"jsonrpc":"2.0","id":"the-end","method":"logging/setLevel","params":{}}`+"\n"); err == nil {
			<-done
		}
		client.Close()
		<-ended
		allowed := 0
		for _, r := range b.rows.Decisions() {
			if r.Status == stopgate.StatusAllowed {
				allowed++
			}
		}
		calls := server.calls("tools/call")
		if len(calls) > allowed {
			t.Errorf("%d calls, %d allowed:\n%s", len(calls), allowed, strings.Join(calls, "\n"))
		}
		for _, sent := range calls {
			var loose struct {
				Method string
				Params struct {
					Name      string
					Arguments struct{ Text string }
				}
			}
			if err := json.Unmarshal([]byte(sent), &loose); err != nil || loose.Method != "tools/call" || loose.Params.Name != "echo" || !strings.HasPrefix(loose.Params.Arguments.Text, "ok") {
				t.Errorf("the server reads %+v, %v in %s", loose, err, sent)
			}
		}
	})
}

// answers waits for the response with one id.
type answers struct {
	mu      sync.Mutex
	waiting string
	done    chan struct{}
}

func (a *answers) expect(id string) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting, a.done = id, make(chan struct{})
	return a.done
}

func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.Contains(string(p), `"id":"`+a.waiting+`"`) {
		select {
		case <-a.done:
		default:
			close(a.done)
		}
	}
	return len(p), nil
}
