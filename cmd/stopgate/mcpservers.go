package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/mcpgate"
)

// serverSpec is one server as flags or the policy file name it.
type serverSpec struct {
	id      string
	command []string
	url     string
	env     []string // names of variables that it gets; nil for the one wrapped server: all
	all     bool
	token   string
}

// serversOf are the servers of a command line: one command, or those of --server, or
// those of the policy file.
func (f *mcpFlags) serversOf(s mcpSettings, command []string) ([]serverSpec, error) {
	switch {
	case len(command) > 0 && len(f.servers) > 0:
		return nil, usagef("name the server behind -- or with --server, not both")
	case len(command) > 0:
		if _, err := exec.LookPath(command[0]); err != nil {
			return nil, hinted(fmt.Errorf("start the server: %w", err), "what stands behind -- is the command of an MCP server, as the agent would start it")
		}
		// Whoever starts us instead of the server gave us the server's environment.
		return []serverSpec{{command: command, all: true}}, nil
	case len(f.servers) > 0:
		return namedServers(s, f.servers, f.env)
	}
	specs := listedServers(s, f.env)
	if len(specs) == 0 {
		return nil, hinted(usagef("mcp needs a server"), "stopgate mcp -- npx -y @modelcontextprotocol/server-filesystem .")
	}
	return specs, nil
}

// listedServers returns the servers of the policy file, by name; env names variables that
// all of them get.
func listedServers(s mcpSettings, env []string) (specs []serverSpec) {
	for id, t := range s.table.Servers {
		specs = append(specs, serverSpec{
			id: id, command: t.Command, url: t.URL, token: s.secrets[id], env: slices.Concat(t.Env, s.table.Env, env),
		})
	}
	slices.SortFunc(specs, func(a, b serverSpec) int { return strings.Compare(a.id, b.id) })
	return specs
}

// namedServers returns the servers of --server. A table of the same name adds what flags
// cannot express.
func namedServers(s mcpSettings, texts, env []string) (specs []serverSpec, err error) {
	for _, text := range texts {
		spec, err := parseServer(text)
		if err != nil {
			return nil, err
		}
		spec.token = s.secrets[spec.id]
		spec.env = slices.Concat(s.table.Servers[spec.id].Env, s.table.Env, env)
		specs = append(specs, spec)
	}
	return specs, nil
}

// parseServer reads NAME=COMMAND or NAME=URL. A command is split as a shell would, and
// has nothing in it that a shell would do more with.
func parseServer(text string) (serverSpec, error) {
	id, what, ok := strings.Cut(text, "=")
	spec := serverSpec{id: id}
	switch {
	case !ok || strings.TrimSpace(what) == "":
		return spec, usagef("--server wants NAME=COMMAND or NAME=URL, not %q", text)
	case !mcpgate.ValidServerID(stopgate.ServerID(id)):
		return spec, usagef("--server: %q names no server: want 1 to 32 of a-z, 0-9 and -", id)
	case strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://"):
		spec.url = what
		if err := checkURL(what); err != nil {
			return spec, usagef("--server %s: %w", id, err)
		}
		return spec, nil
	}
	var l shell.Line
	l.Read([]byte(what))
	if !l.Plain || len(l.Commands) == 0 || len(l.Commands[0].Redirects) > 0 || slices.ContainsFunc(l.Commands[1:], func(c shell.Command) bool { return c.Parent < 0 }) {
		return spec, usagef("--server %s: %q is more than one plain command: no shell reads it; write it to a script", id, what)
	}
	for _, w := range l.Commands[0].Words {
		spec.command = append(spec.command, string(w.Text))
	}
	return spec, nil
}

// server is the spec for the gateway; hold is told of its process.
func (s serverSpec) server(talk io.Writer, hold func(group int) (release func())) mcpgate.Server {
	name := s.id
	if name == "" {
		name = "server"
	}
	return mcpgate.Server{
		ID: stopgate.ServerID(s.id), Identity: s.identity(),
		Open: s.opener(link.Command{Stderr: &prefixed{out: talk, prefix: name}, Track: hold}),
	}
}

// opener connects to the server; how says what of a process the caller decides.
func (s serverSpec) opener(how link.Command) func(context.Context, link.Events) (link.Link, error) {
	if s.url != "" {
		return func(_ context.Context, e link.Events) (link.Link, error) {
			return link.Dial(link.Endpoint{URL: s.url, Token: s.token}, e)
		}
	}
	env := os.Environ()
	if !s.all {
		env = link.Inherit(env, s.env...)
	}
	how.Args, how.Env = s.command, slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "STOPGATE_") })
	return func(_ context.Context, e link.Events) (link.Link, error) { return link.Start(how, e) }
}

// runners are programs that start a server named behind them.
var runners = []string{"node", "npx", "npm", "exec", "bunx", "bun", "deno", "run", "uv", "uvx", "pipx", "python", "python3", "docker", "env"}

// identity is what pins belong to: the server's name, or a word of its command that
// people know it by, and a hash of where it comes from. Servers of two projects may
// have one name.
func (s serverSpec) identity() string {
	from, word := s.url, s.id
	if s.url == "" {
		from = strings.Join(s.command, "\x00")
	}
	for _, arg := range s.command {
		if base := filepath.Base(arg); word == "" && !strings.HasPrefix(arg, "-") && !slices.Contains(runners, base) {
			word = base
		}
	}
	if word == "" {
		word = filepath.Base(s.command[0])
	}
	sum := sha256.Sum256([]byte(from))
	return fmt.Sprintf("%s-%x", word, sum[:4])
}

// prefixed passes what a server says on to people, line by line: nothing in it can
// pass for ours, or move what stands beside it.
type prefixed struct {
	mu     sync.Mutex
	out    io.Writer
	prefix string
	line   []byte
}

// longestLine is where a line is cut that does not end.
const longestLine = 8 << 10

// Write implements [io.Writer].
func (p *prefixed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(b)
	for len(b) > 0 {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		p.line = append(p.line, part...)
		b = rest
		if whole || len(p.line) > longestLine {
			fmt.Fprintf(p.out, "[%s] %s\n", p.prefix, visible.Text(strings.TrimRight(string(p.line), "\r")))
			p.line = p.line[:0]
		}
	}
	return n, nil
}
