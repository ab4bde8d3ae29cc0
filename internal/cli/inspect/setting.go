package inspect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/realpath"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// setting is the setting of a recorded call, as far as its row has it and this machine still has
// it: the options of the policy, and the facts that are gone.
type setting struct {
	options policy.Options
	hook    bool
	gone    []string
}

// settingOf is the setting of a recorded call, whose arguments are args, nil if they are not
// kept.
func settingOf(r *stopgate.Record, args []byte, account config.Account) (s setting) {
	c := r.Context
	if c == nil {
		if r.PathResolution == "followed" {
			s.gone = append(s.gone, "in which directory, project and home the call was made: the row is of an older version, which did not record them")
		}
		c = new(stopgate.Context)
	}
	s.hook = r.Surface == stopgate.SurfaceHook
	s.options = policy.Options{Root: c.Root, Dir: c.Dir, Home: c.Home, RunDoubt: c.RunDoubt, RunLost: c.RunLost}
	if s.hook {
		s.options.UnknownTool = stopgate.Ask
	}
	if c.Cut {
		s.gone = append(s.gone, "a directory of the call: its name is too long or too odd for a row")
	}
	if r.PathResolution == "followed" {
		root := cmp.Or(c.Root, c.Dir)
		if info, err := os.Stat(root); root != "" && (err != nil || !info.IsDir()) {
			s.gone = append(s.gone, fmt.Sprintf("the files of %s: there is no such directory any more, so that links in it are unknown", root))
		}
		s.options.Links = &condition.Links{Real: realpath.From(root), Walk: realpath.Walk(root)}
		s.options.Settings = process.Settings(account, c.Root, "")
	}
	if c.Run != "" {
		if s.options.Run = s.run(args, c.Run); s.options.Run == "" {
			s.options.RunLost = true
			s.gone = append(s.gone, "the directory in which the call wanted its command to run")
		}
	}
	return s
}

// run finds the directory that a call named by its hash: one of its arguments.
func (s *setting) run(args []byte, hash string) string {
	v, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return ""
	}
	dir := cmp.Or(s.options.Dir, s.options.Root)
	for _, member := range v.Members() {
		if member.Kind() != jsonstream.String {
			continue
		}
		run := process.Caller{}.Options(config.Set{Root: s.options.Root}, s.options.Root, &hook.Event{Dir: dir, Run: member.Text()}, "").Run
		if sum := sha256.Sum256([]byte(run)); run != "" && hex.EncodeToString(sum[:]) == hash {
			return run
		}
	}
	return ""
}

// key names all that a policy is compiled with.
func (s *setting) key() string {
	o := s.options
	return fmt.Sprintf("%q %q %q %q %t %t %t %d", o.Root, o.Dir, o.Home, o.Run, o.RunDoubt, o.RunLost, o.Links != nil, o.UnknownTool)
}

// compile compiles the policy with the setting of the call.
func (s *setting) compile(l *inputs.Loaded) error {
	o := s.options
	if !s.hook {
		o.Definitions = l.Tools
	}
	err := l.Compile(o)
	if err == nil && s.hook && (process.Caller{}).Stored(&o, l.Program) {
		err = l.Compile(o)
	}
	return err
}

// load finds the policy of a recorded call, first below its project unless --policy names one,
// and compiles it with the setting of the call. ok is false where it is another policy.
func (s *setting) load(p *inputs.Policy, r *stopgate.Record) (l inputs.Loaded, ok bool) {
	dirs := []string{""}
	if root := s.options.Root; root != "" && len(p.Files) == 0 {
		dirs = []string{root, ""}
	}
	for _, dir := range dirs {
		at := *p
		at.Dir = dir
		var err error
		if l, err = at.Find(io.Discard); err == nil {
			err = s.compile(&l)
		}
		if err == nil && l.Program.Hash() == r.Policy {
			return l, true
		}
	}
	return l, false
}

// callOf is the call that a row is about. Without the definition of the tool a row knows
// only that there was one.
func (s *setting) callOf(r *stopgate.Record, args []byte, tools []stopgate.ToolDefinition) stopgate.Call {
	call := stopgate.Call{
		Tool: r.Tool, ID: r.CallID, Session: r.Session, Turn: r.Turn, Agent: r.Agent, Principal: r.Principal, Groups: r.Groups, Surface: r.Surface, Dialect: r.Dialect,
	}
	if r.Context != nil {
		call.Server = r.Context.Server
	}
	if r.Definition == "" {
		call.Definition = inputs.DefinitionOf(tools, r.Tool)
		return call
	}
	d := inputs.DefinitionOf(tools, r.Tool)
	if s.hook && d == nil {
		d = hostsOwn(call, args, r.Definition)
	}
	switch {
	case d == nil:
		s.gone = append(s.gone, fmt.Sprintf("the definition of the tool (hash %.12s): give it with --tools", r.Definition))
		d = &stopgate.ToolDefinition{Name: r.Tool}
	default:
		own, same := *d, false
		for _, own.EmptyMeansNone = range []bool{false, true} {
			if same = gate.DefinitionHash(&own) == r.Definition; same {
				break
			}
		}
		if !same {
			s.gone = append(s.gone, fmt.Sprintf("the definition of the tool (hash %.12s): here it is another one", r.Definition))
			own.EmptyMeansNone = r.Surface == stopgate.SurfaceGateway
		}
		d = &own
	}
	d.Pinned = r.Context != nil && r.Context.Pinned
	call.Definition = d
	return call
}

// hostsOwn returns the host's definition of the tool of a call, nil if the hook does not know
// one: the definition with the hash, if the host still has it. A row has the name that policies
// use for a tool of an MCP server, and hosts have theirs.
func hostsOwn(call stopgate.Call, args []byte, hash string) (d *stopgate.ToolDefinition) {
	host, err := hook.Lookup(call.Dialect)
	if err != nil {
		return nil
	}
	own := call
	own.Tool = stopgate.ToolName(strings.TrimPrefix(string(call.Tool), string(call.Server)+"__"))
	named, plain := call, call
	named.Tool, named.Server, plain.Server = "mcp__"+call.Tool, "", ""
	for _, c := range []stopgate.Call{plain, own, named} {
		c.Args = args
		event, err := host.Read(host.BuildEvent(c, ""))
		if err != nil || event.Call.Definition == nil {
			continue
		}
		if d = cmp.Or(d, event.Call.Definition); gate.DefinitionHash(event.Call.Definition) == hash {
			return event.Call.Definition
		}
	}
	return d
}

// then are the session's data of a recorded call, if those that are known are the same.
func (s *setting) then(r *stopgate.Record, data jsonstream.Value) jsonstream.Value {
	if r.Context == nil {
		return data
	}
	if data.IsValid() {
		if sum := jsonstream.HashCanonical(data); hex.EncodeToString(sum[:]) == r.Context.SessionData {
			return data
		}
	}
	if r.Context.SessionData != "" {
		s.gone = append(s.gone, fmt.Sprintf("the data that the session had (hash %.12s): give it with --session-data", r.Context.SessionData))
	}
	return jsonstream.Value{} // as it was
}

// DifferenceText lists the facts that a judgement lacks, and how its verdict differs, for
// people.
func (w *show) DifferenceText() string {
	if w.Differs == "" && len(w.Gone) == 0 {
		return ""
	}
	text := "\n"
	if w.Differs != "" {
		text += "  ANOTHER VERDICT: " + visible.Text(w.Differs) + "\n"
	}
	for _, what := range w.Gone {
		text += "  not here any more: " + visible.Text(what) + "\n"
	}
	return text
}
