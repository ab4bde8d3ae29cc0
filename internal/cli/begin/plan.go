package begin

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/hosts"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/host/servers"
	"github.com/stopgate/stopgate/internal/project"
)

// part is a part of the setup that can be left out.
type part string

// The parts.
const (
	partPolicy  part = "policy"
	partTrust   part = "trust"
	partHooks   part = "hooks"
	partServers part = "servers"
)

// choice is what the person wants.
type choice struct {
	without []part
	run     bool     // the commands of the project run without a question
	flags   []string // of the hooks
}

func (c choice) has(p part) bool { return !slices.Contains(c.without, p) }

// change is a change of one file.
type change struct {
	part    part
	host    string
	file    string
	before  []byte // nil for no file
	after   []byte
	mode    fs.FileMode
	user    bool // the file belongs to the user and serves all projects
	servers []servers.Server
	hint    string // what else the person has to do
}

// plan is everything that start would do.
type plan struct {
	root    string
	project project.Project
	policy  []byte // the text of the file that will be there
	kept    bool   // a policy that differs is there, and stays
	trusted bool   // its bytes are trusted now
	changes []change
	// uncovered are servers and hosts that the gate does not reach, each with the reason.
	uncovered []string
	hosts     []string
	gated     int // servers that have the gate already
}

// planner makes plans; it has what does not depend on the choice.
type planner struct {
	root, home string
	project    project.Project
	userDir    string
	found      []hosts.Found
	program    install.Command
	gate       string
}

// newPlanner reads the project around a directory and looks for agents.
func newPlanner(dir string) (*planner, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	root, err := config.ProjectRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if root == "" {
		root = dir
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	p := &planner{root: root, userDir: config.Standard(root).UserDir}
	if p.home, err = os.UserHomeDir(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if home, err := filepath.EvalSymlinks(p.home); err == nil && (root == home || len(root) < len(home) && filepath.Dir(root) == root) {
		return nil, cli.Hinted(fmt.Errorf("start: %s is no project", root), "run it in the directory of a project: cd PROJECT && stopgate start")
	}
	files, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	defer files.Close()
	if p.project, err = project.Read(files.FS()); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	p.project.System = runtime.GOOS
	p.project.Installed(func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	})
	p.found = hosts.FindHosts()
	if p.program, p.gate, err = hosts.Programs(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return p, nil
}

// plan returns the plan for a choice.
func (p *planner) plan(c choice) (*plan, error) {
	out := &plan{root: p.root, project: p.project}
	out.project.Unattended = c.run
	texts := map[string][]byte{} // files as the changes before leave them
	read := func(path string) ([]byte, error) {
		if text, ok := texts[path]; ok {
			return text, nil
		}
		return readFile(path)
	}
	add := func(c change) {
		if (c.before == nil) == (c.after == nil) && bytes.Equal(c.before, c.after) {
			return
		}
		texts[c.file] = c.after
		out.changes = append(out.changes, c)
	}
	for _, f := range p.found {
		out.hosts = append(out.hosts, f.Host.Name)
	}
	var later []change // servers come after hooks, but their packs are in the policy
	hooks, err := p.hooks(c, out, read)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		texts[h.file] = h.after
	}
	if later, err = p.servers(c, out, read); err != nil {
		return nil, err
	}
	clear(texts)
	if err := p.writePolicy(c, out, add); err != nil {
		return nil, err
	}
	for _, h := range append(hooks, later...) {
		add(h)
	}
	return out, nil
}

// writePolicy adds the policy. One that is there stays.
func (p *planner) writePolicy(c choice, out *plan, add func(change)) error {
	file := filepath.Join(p.root, config.FileName)
	text := out.project.Policy()
	if at, err := os.Lstat(file); err == nil && !at.Mode().IsRegular() {
		return cli.Hinted(fmt.Errorf("start: %s is no regular file", file), "a policy that is a link may change without a change here; replace it by the file")
	}
	there, err := readFile(file)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	out.policy = text
	if there != nil {
		out.policy, out.kept = there, !bytes.Equal(there, text)
	}
	if out.trusted, err = config.Trusted(p.userDir, sum(out.policy)); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if !c.has(partPolicy) || out.kept {
		out.unnamed(there)
		return nil
	}
	if there == nil {
		add(change{part: partPolicy, file: file, after: text, mode: 0o644})
	}
	return p.writeCases(out, add)
}

// writeCases adds the test cases of the policy. A file that is there stays.
func (p *planner) writeCases(out *plan, add func(change)) error {
	file := filepath.Join(p.root, casesName)
	if exists(file) {
		return nil
	}
	text, err := out.cases(p.home)
	if err != nil {
		return err
	}
	add(change{part: partPolicy, file: file, after: text, mode: 0o644})
	return nil
}

// hooks returns the changes that install the hooks of the agents that were found.
func (p *planner) hooks(c choice, out *plan, read func(string) ([]byte, error)) (list []change, err error) {
	if !c.has(partHooks) {
		return nil, nil
	}
	program := p.program
	program.Flags = c.flags
	for _, f := range p.found {
		made, err := install.Make(f.Host.Name, p.location(), program)
		if err != nil {
			continue // an agent without settings for hooks
		}
		for _, q := range append([]*install.Plan{made}, made.Also...) {
			before, err := read(q.File)
			if err != nil {
				return nil, fmt.Errorf("start: %w", err)
			}
			if len(q.Lines(before)) > 0 {
				continue // installed, maybe with other flags
			}
			after, err := q.Install(before)
			if err != nil {
				out.uncovered = append(out.uncovered, fmt.Sprintf("%s: %s is left alone: %v", f.Host.Title, q.File, err))
				continue
			}
			if before != nil && bytes.Equal(before, after) {
				continue
			}
			list = append(list, change{part: partHooks, host: f.Host.Name, file: q.File, before: before, after: after, mode: fs.FileMode(q.Mode), user: true, hint: f.Host.TrustHint})
		}
	}
	return list, nil
}

func (p *planner) location() install.Location {
	return install.Location{Scope: install.User, Home: p.home, Dir: p.root, Getenv: os.Getenv}
}

// servers returns the changes that put the gate before MCP servers, and adds their packs to the project.
func (p *planner) servers(c choice, out *plan, read func(string) ([]byte, error)) (list []change, err error) {
	if !c.has(partServers) {
		return nil, nil
	}
	var names []nameIn
	for _, f := range servers.Files(servers.Location{Home: p.home, Dir: p.root, Getenv: os.Getenv}) {
		if real, err := filepath.EvalSymlinks(f.Path); err == nil && f.Shared && real != f.Path {
			out.uncovered = append(out.uncovered, fmt.Sprintf("MCP servers of %s: a link of the project leads to another file", f.Path))
			continue
		}
		before, err := read(f.Path)
		if err != nil {
			out.uncovered = append(out.uncovered, fmt.Sprintf("%s: %v", f.Path, err))
			continue
		}
		if before == nil {
			continue
		}
		all, err := f.Servers(before)
		if err != nil {
			out.uncovered = append(out.uncovered, fmt.Sprintf("MCP servers of %s: %v", f.Path, err))
			continue
		}
		after, changed, err := f.Insert(before, servers.Gate{Program: p.gate, Name: serverName})
		if err != nil {
			out.uncovered = append(out.uncovered, fmt.Sprintf("MCP servers of %s: %v", f.Path, err))
			continue
		}
		for _, s := range all {
			switch {
			case s.Gated:
				out.gated++
			case s.Problem != "":
				out.uncovered = append(out.uncovered, fmt.Sprintf("MCP server %s of %s: %s", s.Name, f.Path, s.Problem))
			case !slices.ContainsFunc(changed, func(d servers.Server) bool { return d.Table == s.Table && d.Name == s.Name }):
				out.uncovered = append(out.uncovered, fmt.Sprintf("MCP server %s of %s: its settings have an unusual form", s.Name, f.Path))
			}
			pack, ok := packOf(s)
			names = append(names, nameIn{s.Name, f.Path, pack})
			if !ok {
				continue
			}
			if !slices.Contains(out.project.Servers, pack.Name) {
				out.project.Servers = append(slices.Clip(out.project.Servers), pack.Name)
			}
		}
		if len(changed) > 0 {
			list = append(list, change{part: partServers, host: f.Host, file: f.Path, before: before, after: after, user: !f.Shared, servers: changed})
		}
	}
	out.name(names)
	return list, nil
}
