package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/jsonstream"
)

// errTimeout is the cause of a call without a response within the timeout.
var errTimeout = errors.New("timeout")

// call calls a tool of the server.
func (s *server) call(ctx context.Context, name stopgate.ToolName, task agent.Task) (agent.Result, error) {
	if err := s.ready(ctx); err != nil {
		if ctx.Err() != nil {
			return agent.Result{}, errors.New("it did not run: the person interrupted it")
		}
		return agent.Result{}, fmt.Errorf("it did not run: %s", s.describe(err))
	}
	s.mu.Lock()
	live := s.live
	var t *tool
	for _, one := range s.tools {
		if one.Name == name {
			t = one
		}
	}
	s.mu.Unlock()
	switch {
	case live == nil:
		return agent.Result{}, errors.New("it did not run: the server is gone")
	case t == nil:
		return agent.Result{}, fmt.Errorf("it did not run: the server has no tool %q any more", name)
	case t.changed:
		return agent.Result{}, fmt.Errorf("it did not run: the definition of %s has changed since it was accepted", name)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.set.o.Timeout, func() { cancel(errTimeout) })
	defer timer.Stop()
	m, err := live.ask(ctx, question{
		method: "tools/call", name: string(name), args: t.marks.Headers([]byte(task.Args)),
		params: object{}.text("name", string(name)).raw("arguments", task.Args).end(),
		on: func(m *jsonrpc.Message) {
			timer.Reset(s.set.o.Timeout)
			if text := progress(m); text != "" && task.Progress != nil {
				task.Progress(text)
			}
			if m.Method != "notifications/progress" {
				s.handle(live, m)
			}
		},
	})
	if errors.Is(err, link.ErrDead) {
		_ = live.Close() // so that its last output is available
	}
	return s.result(m, err)
}

// result converts the response of a call.
func (s *server) result(m *jsonrpc.Message, err error) (agent.Result, error) {
	switch garbage := new(link.InvalidResponseError); {
	case err == nil:
		r := content(m)
		if r.Raw = m.Result.Raw(); m.Kind == jsonrpc.ErrorResponse {
			r.Raw = m.Error.Raw()
		}
		return r, nil
	case errors.Is(err, errTimeout):
		return agent.Result{}, fmt.Errorf("the server did not answer within %s and was told to stop; nobody knows how far it came", s.set.o.Timeout)
	case errors.Is(err, agent.Interrupted()), errors.Is(err, context.Canceled):
		return agent.Result{}, errors.New("the person interrupted it and the server was told to stop; nobody knows how far it came")
	case errors.As(err, &garbage):
		return agent.Result{}, errors.New("the server's answer cannot be read; the call may have run")
	case errors.Is(err, link.ErrDead):
		return agent.Result{}, fmt.Errorf("the server ended in the middle of the call, which may have run: %s", s.describe(errGone))
	default:
		return agent.Result{}, fmt.Errorf("the call failed: %w", err)
	}
}

// progress returns the text of a progress message, "" if it has none.
func progress(m *jsonrpc.Message) string {
	if m.Method != "notifications/progress" || !m.Params.IsValid() {
		return ""
	}
	number := func(name string) string {
		v, ok := m.Params.Get(name)
		if !ok || v.Kind() != jsonstream.Number {
			return ""
		}
		return string(v.Raw())
	}
	text := number("progress")
	if total := number("total"); text != "" && total != "" {
		text += " of " + total
	}
	if v, ok := m.Params.Get("message"); ok && textOf(v) != "" {
		if text != "" {
			text += ": "
		}
		text += textOf(v)
	}
	return text
}
