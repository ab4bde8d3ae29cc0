package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/servers"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/internal/visible"
)

// serverGrace is how long a server may take to end when the agent does.
const serverGrace = 2 * time.Second

// servers starts the MCP servers of the policy file and those of --server; a flag overrides a
// table of its name.
func (r *agentRun) servers(notice func(string)) (*servers.Set, error) {
	settings, mistakes := tables.ReadMCPServers(r.Program.Settings().Tables, secret.Machine())
	if err := r.Mistakes(mistakes); err != nil {
		return nil, err
	}
	specs, err := service.NamedServers(settings, r.flags.servers, r.flags.env)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, s := range specs {
		named[s.ID] = true
	}
	for _, s := range service.ListedServers(settings, r.flags.env) {
		if !named[s.ID] {
			specs = append(specs, s)
		}
	}
	o := servers.Options{Pins: service.PinsFor(settings, specs, r.state.Pins()), Timeout: settings.Table.Timeout, Version: release.Version(), Notice: notice}
	for _, spec := range specs {
		words := new(lastWords)
		o.Servers = append(o.Servers, servers.Server{
			ID: stopgate.ServerID(spec.ID), Identity: spec.Identity(), LastWords: words.String,
			Open: spec.Opener(link.Command{Dir: r.dir, Stderr: words, Grace: serverGrace, Track: r.leash.Hold}),
		})
	}
	return servers.New(o)
}

// lastWords keeps the end of a server's standard error, which is shown if the server fails.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// keptWords is how much of it is kept, in bytes.
const keptWords = 2 << 10

// Write implements [io.Writer].
func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p[max(0, len(p)-keptWords):]...)
	l.text = l.text[max(0, len(l.text)-keptWords):]
	return len(p), nil
}

// String returns the last line that is not empty.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.FieldsFunc(string(l.text), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return visible.Elide(visible.Text(line), 300)
		}
	}
	return ""
}

// listing are the tools for a person: the agent's own and those of servers.
func listing(own agent.Runner, set *servers.Set) (lines []string) {
	line := func(t agent.Tool) string {
		about := firstSentence(t.Description)
		if t.Refused != "" {
			about = "refused: its definition has changed since it was accepted"
		}
		return fmt.Sprintf("  %-28s %s", visible.Text(string(t.Name)), visible.Text(about))
	}
	for _, t := range own.Definitions(context.Background()) {
		lines = append(lines, line(t))
	}
	for _, s := range set.States() {
		if s.Err != nil {
			lines = append(lines, fmt.Sprintf("MCP server %s is not there: %s", s.ID, visible.Text(s.Err.Error())))
			continue
		}
		lines = append(lines, fmt.Sprintf("MCP server %s, %s", s.ID, cli.Count(len(s.Tools), "tool")))
		for _, t := range s.Tools {
			lines = append(lines, line(t))
		}
		for _, why := range s.LeftOut {
			lines = append(lines, "  left out: "+why)
		}
	}
	return lines
}

// firstSentence is the begin of a description.
func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// agentTool is one line of --list-tools --format json; it changes only by addition.
type agentTool struct {
	Name        stopgate.ToolName `json:"name"`
	Server      stopgate.ServerID `json:"server,omitempty"`
	Description string            `json:"description"`
	Refused     stopgate.Code     `json:"refused,omitempty"`
}

// showTools prints the tools and the state of the servers.
func (r *agentRun) showTools(ctx context.Context, own agent.Runner) error {
	set, err := r.servers(func(text string) { fmt.Fprintf(r.Err, "stopgate: %s\n", visible.Text(text)) })
	if err != nil {
		return err
	}
	defer set.Close()
	all := agent.Join(own, set).Definitions(ctx)
	if r.format != "json" {
		_, err := fmt.Fprintln(r.Out, strings.Join(listing(own, set), "\n"))
		return err
	}
	for _, t := range all {
		if err := cli.WriteJSON(r.Out, agentTool{t.Name, t.Server, t.Description, t.Refused}); err != nil {
			return err
		}
	}
	return nil
}
