package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/testkit/chat"
)

// recorder is an observer that records everything. Its contexts are nested.
type recorder struct {
	mu   sync.Mutex
	seen []string
	copy []*bytes.Buffer
}

type withinKey struct{}

func (n *recorder) note(ctx context.Context, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	within, _ := ctx.Value(withinKey{}).(string)
	n.seen = append(n.seen, within+fmt.Sprintf(format, args...))
}

func (n *recorder) Message(ctx context.Context, m *agent.Message) (context.Context, func()) {
	return context.WithValue(ctx, withinKey{}, "message: "), func() { n.note(ctx, "message %s %q %t", m.Model, m.Failure, m.Ended.Before(m.Began)) }
}

func (n *recorder) Model(ctx context.Context, m *agent.ModelCall) (context.Context, func()) {
	copied := new(bytes.Buffer)
	n.copy, m.Copy = append(n.copy, copied), copied
	return ctx, func() {
		n.note(ctx, "model %s %s begun=%t first=%t stopped=%t %q asked=%t heard=%t", m.API, m.Address, m.Answer.Started, !m.First.IsZero(), m.Stopped, m.Failure,
			strings.Contains(string(m.Body), "\"go\""), copied.Len() > 0)
	}
}

func (n *recorder) Tool(ctx context.Context, t *agent.ToolCall) (context.Context, func()) {
	return ctx, func() {
		n.note(ctx, "tool %s %s %t %s %q id=%t", t.Tool, t.Server, t.Failed, t.Arguments, t.Result, t.ID != "")
	}
}

// An observer receives each message, each request to a model and each executed call, nested, with
// their results.
func TestObserver(t *testing.T) {
	const script = `turn
call fs_read_file
  path string a.txt
turn
call fs_read_file
  path string none.txt
turn
say Done.
`
	for _, api := range []provider.API{provider.Chat, provider.Responses, provider.Messages} {
		book := new(recorder)
		r := chat.New(t, chat.Options{
			Script: script, API: api, Policy: "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n", Files: map[string]string{"a.txt": "content"}, Observer: agent.Observers(book, noObserver{}),
		})
		if end := <-r.Process(t.Context(), "go"); end.Err != nil || end.Sum.Ran != 2 {
			t.Fatalf("%s: %+v", api, end)
		}
		model := fmt.Sprintf("message: model %s %s begun=true first=true stopped=false \"\" asked=true heard=true", api, r.Agent.Endpoint.Address())
		want := []string{
			model, `message: tool fs_read_file  false {"path":"a.txt"} "content" id=true`,
			model, `message: tool fs_read_file  true {"path":"none.txt"} "error: none.txt: no such file or directory" id=true`,
			model, fmt.Sprintf(`message %s "" false`, r.Agent.Endpoint.Model),
		}
		if book.mu.Lock(); !slices.Equal(book.seen, want) {
			t.Errorf("%s:\n%s\nwant\n%s", api, strings.Join(book.seen, "\n"), strings.Join(want, "\n"))
		}
		book.mu.Unlock()
	}
}

// noObserver returns no observation.
type noObserver struct{}

func (noObserver) Message(ctx context.Context, _ *agent.Message) (context.Context, func()) {
	return ctx, nil
}
func (noObserver) Model(ctx context.Context, _ *agent.ModelCall) (context.Context, func()) {
	return ctx, nil
}
func (noObserver) Tool(ctx context.Context, _ *agent.ToolCall) (context.Context, func()) {
	return ctx, nil
}
