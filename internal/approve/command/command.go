// Package command tells a person that a question waits by running a command: a
// notification on the desktop, a sound (S47).
//
//	note := &command.Command{Line: `notify-send stopgate "$STOPGATE_TOOL: $STOPGATE_REASON"`}
//	queue, err := approve.New(store, approve.Options{Notify: []approve.Notifier{note}})
//
// The command is the operator's and runs in sh. What the question is about comes in
// variables of the environment, never in the command's text: STOPGATE_ID,
// STOPGATE_TOOL, STOPGATE_AGENT, STOPGATE_SESSION, STOPGATE_REASON, with every
// character that does not print written as an escape (H14). Arguments of the
// call are not among them. STOPGATE_EVENT is "question"; it is "stopped" where a session
// had too many denials in a row, which nobody has to answer.
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
	cmd.WaitDelay = time.Second // for what the command left running with our streams
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}

var (
	_ approve.Notifier = (*Command)(nil)
	_ approve.Alerter  = (*Command)(nil)
)
