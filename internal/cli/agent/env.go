package agent

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/tools"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// agentHold is how long the agent's own terminal waits for an answer (S48).
const agentHold = 30 * time.Minute

// agentStore is the deadline of the store and of a row: a machine that builds and tests is busy,
// and waiting a second is better than a conversation that ends. A call whose row is late is
// denied as everywhere (FM2, FM4).
const agentStore = 8 * time.Second

// readable reports whether the policy permits a file to be read by its name without a question:
// a search shows only such files.
func (r *agentRun) readable(name string) bool {
	b := r.current.Load().Bind(stopgate.Call{Tool: "fs_read_file", Surface: stopgate.SurfaceAgent, Session: stopgate.SessionID(r.id),
		Definition: &stopgate.ToolDefinition{Name: "fs_read_file", Schema: []byte(readSchema)}})
	e := b.Evaluate()
	e.Feed(append(jsonstream.AppendQuote([]byte(`{"path":`), name), '}'))
	v := e.Close(stopgate.Ended)
	return v.Decided && v.Mode.Permissive()
}

// readSchema is the schema of the call that readable evaluates.
const readSchema = `{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"}},"required":["path"]}`

// local are the commands that the policy declares as tools.
func (r *agentRun) local() (list []tools.Local) {
	for _, l := range r.Program.LocalTools() {
		list = append(list, tools.Local{Definition: l.Definition, Command: l.Command})
	}
	return list
}

// environment returns the environment of commands: the agent's own without keys of providers and
// without variables of stopgate.
func environment(all []string) (env []string) {
	for _, e := range all {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasSuffix(name, "_API_KEY") || strings.HasPrefix(name, "STOPGATE_") {
			continue
		}
		env = append(env, e)
	}
	return append(env, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
}

// system returns the system prompt.
func (r *agentRun) system() string {
	text := fmt.Sprintf(`You are a coding agent in a terminal. You work in the directory %s on %s. All paths are relative to it.
Look before you change something: read files, list and search them. Make changes small. Say briefly what you do and what came of it.
Every tool call is judged by a policy, and a person may be asked. Put short parameters such as paths before long ones.
A result that begins with [stopgate] says that a call did not run, or ran changed, and why. Do not repeat a call that was refused and do not look for a way around: do something else, or say what you need.`, r.dir, runtime.GOOS)
	if r.table.Instructions != "" {
		text += "\n\n" + r.table.Instructions
	}
	return text
}

// listConversations lists the conversations that can be resumed.
func (r *agentRun) listConversations(ctx context.Context) error {
	list, err := r.talks.Conversations(ctx, r.dir, 50)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(r.Err, "stopgate: no conversation began in this directory")
	}
	return cli.PrintList(r.Streams, r.format, list, "", func(i conversation.Info) string {
		return fmt.Sprintf("%s  %s  %s", visible.Text(i.ID), i.Changed.Local().Format("2006-01-02 15:04"), visible.Elide(visible.Text(i.Title), 60))
	})
}
