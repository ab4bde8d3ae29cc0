package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/mcpgate"
)

// ServerSpec is one server as flags or the policy file name it.
type ServerSpec struct {
	ID      string
	Command []string
	url     string
	env     []string // names of variables that it gets; nil for the one wrapped server: all
	All     bool
	token   string
}

// ListedServers returns the servers of the policy file, by name; env names variables that
// all of them get.
func ListedServers(s tables.MCP, env []string) (specs []ServerSpec) {
	for id, t := range s.Table.Servers {
		specs = append(specs, ServerSpec{
			ID: id, Command: t.Command, url: t.URL, token: s.Secrets[id], env: slices.Concat(t.Env, s.Table.Env, env),
		})
	}
	slices.SortFunc(specs, func(a, b ServerSpec) int { return strings.Compare(a.ID, b.ID) })
	return specs
}

// NamedServers returns the servers of --server. A table of the same name adds settings that have
// no flag.
func NamedServers(s tables.MCP, texts, env []string) (specs []ServerSpec, err error) {
	for _, text := range texts {
		spec, err := parseServer(text)
		if err != nil {
			return nil, err
		}
		spec.token = s.Secrets[spec.ID]
		spec.env = slices.Concat(s.Table.Servers[spec.ID].Env, s.Table.Env, env)
		specs = append(specs, spec)
	}
	return specs, nil
}

// parseServer reads NAME=COMMAND or NAME=URL. A command is split as a shell would, and has no
// expansion or operator.
func parseServer(text string) (ServerSpec, error) {
	id, what, ok := strings.Cut(text, "=")
	spec := ServerSpec{ID: id}
	switch {
	case !ok || strings.TrimSpace(what) == "":
		return spec, cli.Usagef("--server wants NAME=COMMAND or NAME=URL, not %q", text)
	case !mcpgate.ValidServerID(stopgate.ServerID(id)):
		return spec, cli.Usagef("--server: %q names no server: want 1 to 32 of a-z, 0-9 and -", id)
	case strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://"):
		spec.url = what
		if err := tables.CheckServerURL(what); err != nil {
			return spec, cli.Usagef("--server %s: %w", id, err)
		}
		return spec, nil
	}
	var l shell.Line
	l.Read([]byte(what))
	if !l.Plain || len(l.Commands) == 0 || len(l.Commands[0].Redirects) > 0 || slices.ContainsFunc(l.Commands[1:], func(c shell.Command) bool { return c.Parent < 0 }) {
		return spec, cli.Usagef("--server %s: %q is more than one plain command: no shell reads it; write it to a script", id, what)
	}
	for _, w := range l.Commands[0].Words {
		spec.Command = append(spec.Command, string(w.Text))
	}
	return spec, nil
}

// Server returns the spec for the gateway; hold receives its process.
func (s ServerSpec) Server(talk io.Writer, hold func(group int) (release func())) mcpgate.Server {
	name := s.ID
	if name == "" {
		name = "server"
	}
	return mcpgate.Server{
		ID: stopgate.ServerID(s.ID), Identity: s.Identity(),
		Transport: link.OpenFunc(s.Opener(link.Command{Stderr: &prefixed{out: talk, prefix: name}, Track: hold})),
	}
}

// Opener returns a function that connects to the server; how has the caller's options of the
// process.
func (s ServerSpec) Opener(how link.Command) func(context.Context, link.Events) (link.Link, error) {
	if s.url != "" {
		return func(_ context.Context, e link.Events) (link.Link, error) {
			return link.Dial(link.Endpoint{URL: s.url, Token: s.token}, e)
		}
	}
	env := os.Environ()
	if !s.All {
		env = link.Inherit(env, s.env...)
	}
	how.Args, how.Env = s.Command, slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "STOPGATE_") })
	return func(_ context.Context, e link.Events) (link.Link, error) { return link.Start(how, e) }
}

// runners are programs that start a server whose name is an argument.
var runners = []string{"node", "npx", "npm", "exec", "bunx", "bun", "deno", "run", "uv", "uvx", "pipx", "python", "python3", "docker", "env"}

// Identity is the key of pins: the server's name, or a word of its command that people know it
// by, and a hash of its command or URL. Servers of two projects may have one name.
func (s ServerSpec) Identity() string {
	from, word := s.url, s.ID
	if s.url == "" {
		from = strings.Join(s.Command, "\x00")
	}
	for _, arg := range s.Command {
		if base := filepath.Base(arg); word == "" && !strings.HasPrefix(arg, "-") && !slices.Contains(runners, base) {
			word = base
		}
	}
	if word == "" {
		word = filepath.Base(s.Command[0])
	}
	sum := sha256.Sum256([]byte(from))
	return fmt.Sprintf("%s-%x", word, sum[:4])
}

// prefixed copies a server's standard error to people, line by line and escaped, so that it
// cannot look like output of stopgate.
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
