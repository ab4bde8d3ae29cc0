package servers_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/servers"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/pin"
)

// slowLink is a server in this process, which sends progress for a while and then answers.
type slowLink struct {
	t     *testing.T
	pause time.Duration
	words int
	done  chan struct{}
}

func (l *slowLink) Call(ctx context.Context, c *link.Call) (link.Reply, error) {
	m, err := jsonrpc.Read(c.Text)
	if err != nil {
		l.t.Fatal(err)
	}
	result := `{"content":[{"type":"text","text":"at last"}]}`
	switch c.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		meta, _ := m.Params.Get("_meta")
		token, _ := meta.Get("progressToken")
		for i := range l.words {
			select {
			case <-time.After(l.pause):
			case <-ctx.Done():
				return link.Reply{}, context.Cause(ctx)
			}
			c.OnMessage(l.read(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"step"}}`, token.Raw(), i+1, l.words)))
		}
	}
	return link.Reply{Message: l.read(string(jsonrpc.AppendResult(nil, m.ID, []byte(result))))}, nil
}

func (l *slowLink) read(text string) *jsonrpc.Message {
	m, err := jsonrpc.Read([]byte(text))
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

func (l *slowLink) Send(context.Context, *link.Call) error { return nil }
func (l *slowLink) Done() <-chan struct{}                  { return l.done }
func (l *slowLink) Close() error                           { return nil }

// Progress resets the timeout: a call may take any time while its server reports progress within
// each timeout.
func TestProgressExtendsTimeout(t *testing.T) {
	for _, c := range []struct {
		pause  time.Duration
		failed bool
		words  int
	}{
		{1900 * time.Millisecond, false, 8},
		{2100 * time.Millisecond, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &slowLink{t: t, pause: c.pause, words: 8, done: make(chan struct{})}
			set, err := servers.New(servers.Options{
				Pins: pin.InMemory(), Version: "test", Timeout: 2 * time.Second, Notice: func(string) {},
				Servers: []servers.Server{{ID: "good", Identity: "good-id", LastWords: func() string { return "" }, Open: func(context.Context, link.Events) (link.Link, error) { return l, nil }}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			var progress []string
			got := set.Run(t.Context(), agent.Task{Tool: "good__echo", Args: `{}`, Progress: func(text string) { progress = append(progress, text) }})
			if got.Failed != c.failed || !c.failed && got.Text != "at last" || len(progress) != c.words || c.words > 0 && progress[0] != "1 of 8: step" {
				t.Errorf("a word every %v: %+v, %q", c.pause, got, progress)
			}
			if c.failed {
				has(t, got.Text, "did not answer within 2s and was told to stop")
			}
		})
	}
}
