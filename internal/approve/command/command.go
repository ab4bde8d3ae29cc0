// Package command announces questions by running a command, such as a notification on the desktop
// or a sound (S47).
//
//	note := &command.Command{Line: `notify-send stopgate "$STOPGATE_TOOL: $STOPGATE_REASON"`}
//	queue, err := approve.New(store, approve.Options{Notify: []approve.Notifier{note}})
//
// The command is the operator's and runs in sh. The question is in environment variables, never in
// the text of the command: STOPGATE_ID, STOPGATE_TOOL, STOPGATE_AGENT, STOPGATE_SESSION,
// STOPGATE_REASON, with every non-printing character as an escape (H14). They do not contain
// arguments of the call. STOPGATE_EVENT is "question", or "stopped" if a session was stopped after
// too many denials in a row, which needs no answer.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/visible"
)

// Command is a command to run for each question. It is an [approve.Notifier].
type Command struct {
	Line string // for sh -c
}

// Name implements [approve.Notifier].
func (c *Command) Name() string { return "notify" }

// maxWord bounds the characters of a variable.
const maxWord = 200

// Notify implements [approve.Notifier]. The command is killed when ctx ends.
func (c *Command) Notify(ctx context.Context, e approve.Entry) error {
	return c.run(ctx, map[string]string{
		"EVENT": "question", "ID": e.ID, "TOOL": string(e.Tool), "AGENT": string(e.Agent), "SESSION": string(e.Session), "REASON": e.Public,
	})
}

// Alert implements [approve.Alerter].
func (c *Command) Alert(ctx context.Context, r stopgate.Record) error {
	return c.run(ctx, map[string]string{
		"EVENT": string(r.Event), "ID": string(r.ID), "TOOL": string(r.Tool), "AGENT": string(r.Agent), "SESSION": string(r.Session),
		"REASON": fmt.Sprintf("the session is stopped after %d denials in a row, the last one by %s", r.Count, r.Cause),
	})
}

func (c *Command) run(ctx context.Context, words map[string]string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Line)
	cmd.Env = os.Environ()
	for name, text := range words {
		cmd.Env = append(cmd.Env, "STOPGATE_"+name+"="+visible.Elide(visible.Text(text), maxWord))
	}
	cmd.WaitDelay = time.Second // for background processes that keep the streams open
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}

var (
	_ approve.Notifier = (*Command)(nil)
	_ approve.Alerter  = (*Command)(nil)
)
