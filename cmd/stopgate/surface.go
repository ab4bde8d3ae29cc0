package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate"
)

// The surfaces that are no host of hooks, as --as names them.
const (
	asGateway = "gateway"
	asMCP     = "mcp"
)

func surfaceNames() []string { return append(hook.Names(), asGateway, asMCP) }

// surface is where a call would pass, and what is known there. The zero surface is none.
type surface struct {
	name string
	host *hook.Host // nil: it is no hook
	root string     // the directory in which the session or the server works; "" if unknown
}

// surfaceFlags name a surface.
type surfaceFlags struct{ as, server string }

func (f *surfaceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.as, "as", "", "answer as the `SURFACE` would: gateway, mcp, or the host of a hook ("+strings.Join(hook.Names(), ", ")+")")
	cmd.Flags().StringVar(&f.server, "server", "", "with --as: `NAME` of the MCP server that has the tool")
	completeFlag(cmd, "as", surfaceNames()...)
}

// surface is the one that the flags name; root is a directory that they give.
func (f *surfaceFlags) surface(root string) (s surface, err error) {
	s = surface{name: f.as, root: root}
	switch f.as {
	case "":
		if f.server != "" {
			return s, usagef("--server says whose tool it is on a surface: name that with --as")
		}
		if root == "" {
			return s, nil
		}
	case asGateway:
		if root != "" || f.server != "" {
			return s, usagef("the gateway knows neither the project nor the servers of the agents behind it: leave out --root and --server")
		}
		return s, nil
	case asMCP:
	default:
		if s.host, err = hook.Lookup(f.as); err != nil {
			if near := diag.Suggest(f.as, surfaceNames()); near != "" {
				return s, usagef("no surface is called %q; did you mean %s?", f.as, near)
			}
			return s, usagef("no surface is called %q: want %s", f.as, diag.OneOf(surfaceNames()))
		}
	}
	if s.root, err = filepath.Abs(cmp.Or(root, ".")); err != nil {
		return s, err
	}
	return s, nil
}

// proposal is a call as the surface hands it to the gate.
type proposal struct {
	call   stopgate.Call
	args   []byte
	event  *hook.Event // nil: no hook reads it
	unread error       // why the hook cannot read it
	fresh  bool        // nobody says what happened in the session
	told   bool        // but what its data are
	hidden bool        // clients are not shown the tool
	absent bool        // and the policy refuses nothing that is not there
}

// proposes makes a call the one that the gate of the surface would see.
func (s surface) proposes(call stopgate.Call, args []byte, tools []stopgate.ToolDefinition) (p proposal, err error) {
	if call.Agent != "" && (s.name == asMCP || s.host != nil && !s.host.NamesAgents()) {
		return p, usagef("%s does not say which agent makes a call: leave out the agent", s.name)
	}
	p = proposal{call: call, args: args}
	if s.name != "" {
		p.call.Principal = hook.Principal
	}
	switch {
	case s.name == asGateway:
		p.call.Surface, p.call.Dialect, p.call.Agent = stopgate.SurfaceGateway, "openai-chat", cmp.Or(call.Agent, "main")
		if d := definitionOf(tools, call.Tool); d != nil {
			d := *d
			d.EmptyMeansNone = true // in every dialect
			p.call.Definition = &d
		}
	case s.name == asMCP:
		own := string(call.Tool)
		if server, rest, ok := strings.Cut(own, "__"); ok && call.Server == "" && mcpgate.ValidServerID(stopgate.ServerID(server)) {
			p.call.Server, own = stopgate.ServerID(server), rest
		}
		if d := definitionOf(tools, stopgate.ToolName(own)); d != nil {
			d := *d
			d.Pinned = true // one that is not accepted runs nothing
			p.call.Definition = &d
		}
		p.call = mcpgate.NewCall(p.call, p.call.Server, stopgate.ToolName(own))
	case s.host != nil:
		if len(tools) > 0 {
			return p, usagef("a hook knows the tools of its host, and no definition of others: leave out --tools")
		}
		call.Args = args
		if p.event, err = s.host.Read(s.host.BuildEvent(call, s.root)); err != nil {
			p.unread = err
		}
		p.call = p.event.Call
		p.call.Tool = cmp.Or(p.call.Tool, call.Tool)
		p.args, p.call.Args = p.call.Args, nil
	default:
		p.call.Surface, p.call.Definition = stopgate.SurfaceDecide, definitionOf(tools, call.Tool)
	}
	return p, nil
}

// find finds and reads the policy where the surface looks for it.
func (s surface) find(talk io.Writer, f *policyFlags) (l loaded, err error) {
	if s.root != "" {
		if info, err := os.Stat(s.root); err != nil || !info.IsDir() {
			return l, usagef("--root %s is no directory", s.root)
		}
	}
	if s.host != nil || s.name == asMCP {
		f.dir = s.root
	}
	return f.find(talk)
}

// compile compiles the policy for a call: where commands run is known from it.
func (s surface) compile(l *loaded, p proposal) error {
	switch {
	case s.name == "":
		o := s.paths()
		o.Definitions = l.tools
		return l.compile(o)
	case s.name == asMCP:
		return l.compile(besideServers(l.set, s.root, ""))
	case s.host == nil:
		return l.compile(policy.Options{})
	}
	var caller process.Caller
	event := p.event
	if event == nil {
		event = new(hook.Event)
	}
	o := caller.Options(l.set, s.root, event, "")
	err := l.compile(o)
	if err == nil && caller.Stored(&o, l.program) {
		err = l.compile(o)
	}
	return err
}

// paths is what is known without a surface: of the files below a root as a hook knows them.
func (s surface) paths() policy.Options {
	if s.root == "" {
		return policy.Options{}
	}
	o := process.Caller{}.Options(config.Set{}, s.root, &hook.Event{Dir: s.root}, "")
	o.UnknownTool = stopgate.Deny // as surfaces that are no hooks have it
	return o
}

// runsElsewhere reports whether the policy has to be compiled again for the next call.
func (s surface) runsElsewhere(last, next *hook.Event) bool {
	if s.host == nil || next == nil {
		return false
	}
	return last == nil && next.Run+next.Dir != "" || last != nil && (last.Run != next.Run || last.Dir != next.Dir || last.RunUncertain != next.RunUncertain || last.RunUnknown != next.RunUnknown)
}

// hide makes a call one of a tool that is not there, where the surface says so to clients.
func (s surface) hide(p *proposal, program *policy.Program) {
	if s.name == asMCP && p.call.Definition != nil && mcpgate.Hidden(program, p.call) {
		p.call.Definition, p.hidden = nil, true
		p.absent = !program.BindUnder(p.call, eval.Circumstances{}).Evaluate().Verdict().Terminal()
	}
}

// answers makes an answer the surface's. data are the session's.
func (s surface) answers(a answer, p proposal, v stopgate.Verdict, data jsonstream.Value, program *policy.Program) answer {
	a.As, a.MayDiffer = s.name, s.doubts(p, program)
	switch {
	case p.event != nil:
		said := s.host.Preview(p.event, v, p.evaluate(program, data).Args())
		a.Public = said.Public
		if said.Action == hook.Block && !a.Mode.Terminal() {
			a.Mode, a.Code, a.Layer, a.Rule = stopgate.Deny, said.Code, stopgate.LayerIntegrity, nil
		}
		if said.Action != hook.Block && said.Action != hook.Ask && a.Mode == stopgate.Ask {
			a.Mode, a.Cause = stopgate.Unattended, "the tool changes nothing and reveals nothing outside of the project: nobody is asked"
		}
	case p.hidden:
		if p.absent {
			a.Pointer, a.DecidedAt = "", 0
			a.Mode, a.Layer, a.Code, a.Rule = stopgate.Deny, stopgate.LayerIntegrity, stopgate.CodePolicyNotConfigured, nil
			a.Public = a.Code.Public()
		}
		a.Cause = "every call of the tool is refused, so clients are not shown it: the answer is \"Unknown tool\""
	}
	return a
}

// unreadable is the answer to a call that the hook cannot read.
func (s surface) unreadable(p proposal, size int) answer {
	code := stopgate.CodeProtocolViolation
	a := newAnswer(p.call, stopgate.Verdict{Mode: stopgate.Deny, Layer: stopgate.LayerIntegrity, Code: code, Public: code.Public()}, size)
	a.As, a.Cause = s.name, "the event cannot be read: "+p.unread.Error()
	return a
}

// What a surface knows and nobody gave, as the field may_differ names it.
const (
	noSurface    = "no surface (--as)"
	noRoot       = "no root of the project (--root)"
	noDefinition = "no definition of the tool (--tools)"
	noPast       = "no past of the session"
)

// surfaceKnows is the same in a sentence about the surface.
var surfaceKnows = map[string]string{
	noSurface:    "its tools",
	noRoot:       "the root directory (--root)",
	noDefinition: "the tool's schema (--tools)",
	noPast:       "the session's past",
}

// doubts lists what the surface knows and nobody gave, so that it may answer otherwise.
func (s surface) doubts(p proposal, program *policy.Program) (why []string) {
	if s.name == "" {
		why = append(why, noSurface)
		if s.root == "" {
			why = append(why, noRoot)
		}
	}
	if s.host == nil && p.call.Definition == nil && !p.hidden {
		why = append(why, noDefinition)
	}
	if p.fresh && (len(program.SessionPolicies()) > 0 || program.LooksAtSessions() && !p.told) {
		why = append(why, noPast)
	}
	return why
}

// mayDiffer says that the answer of a surface may differ, and why.
func (a answer) mayDiffer() string {
	knows := make([]string, len(a.MayDiffer))
	for i, lack := range a.MayDiffer {
		knows[i] = surfaceKnows[lack]
	}
	list := strings.Join(knows, ", ")
	if last := len(knows) - 1; last > 0 {
		list = strings.Join(knows[:last], ", ") + " and " + knows[last]
	}
	text := "may differ: " + cmp.Or(a.As, "a surface") + " also knows " + list
	if a.As == "" {
		text += "; see --as"
	}
	return text
}
