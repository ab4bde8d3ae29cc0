package dryrun

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
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

// Surface is the enforcement point of a call and the facts that it knows. The zero value is
// none.
type Surface struct {
	name string
	host *hook.Host // nil: it is no hook
	root string     // the directory in which the session or the server works; "" if unknown
}

// surfaceFlags name a surface.
type surfaceFlags struct{ As, Server string }

func (f *surfaceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.As, "as", "", "answer as the `SURFACE` would: gateway, mcp, or the host of a hook ("+strings.Join(hook.Names(), ", ")+")")
	cmd.Flags().StringVar(&f.Server, "server", "", "with --as: `NAME` of the MCP server that has the tool")
	cli.CompleteFlag(cmd, "as", surfaceNames()...)
}

// Surface is the one that the flags name; root is a directory that they give.
func (f *surfaceFlags) Surface(root string) (s Surface, err error) {
	s = Surface{name: f.As, root: root}
	switch f.As {
	case "":
		if f.Server != "" {
			return s, cli.Usagef("--server says whose tool it is on a surface: name that with --as")
		}
		if root == "" {
			return s, nil
		}
	case asGateway:
		if root != "" || f.Server != "" {
			return s, cli.Usagef("the gateway knows neither the project nor the servers of the agents behind it: leave out --root and --server")
		}
		return s, nil
	case asMCP:
	default:
		if s.host, err = hook.Lookup(f.As); err != nil {
			if near := diag.Suggest(f.As, surfaceNames()); near != "" {
				return s, cli.Usagef("no surface is called %q; did you mean %s?", f.As, near)
			}
			return s, cli.Usagef("no surface is called %q: want %s", f.As, diag.OneOf(surfaceNames()))
		}
	}
	if s.root, err = filepath.Abs(cmp.Or(root, ".")); err != nil {
		return s, err
	}
	return s, nil
}

// Proposal is a call as the surface hands it to the gate.
type Proposal struct {
	Call   stopgate.Call
	Args   []byte
	Event  *hook.Event // nil: no hook reads it
	Unread error       // why the hook cannot read it
	texts  flow.View   // of the session; nil if they are not known
	fresh  bool        // the session's past is not known
	told   bool        // but its data are
	hidden bool        // clients are not shown the tool
	absent bool        // and no rule refuses a call of an unknown tool
}

// Proposes makes a call the one that the gate of the surface would see.
func (s Surface) Proposes(call stopgate.Call, args []byte, tools []stopgate.ToolDefinition) (p Proposal, err error) {
	if call.Agent != "" && (s.name == asMCP || s.host != nil && !s.host.NamesAgents()) {
		return p, cli.Usagef("%s does not say which agent makes a call: leave out the agent", s.name)
	}
	if call.Groups.Known() && s.host != nil {
		return p, cli.Usagef("%s does not know the groups of its user: leave out --group", s.name)
	}
	p = Proposal{Call: call, Args: args}
	if s.name != "" {
		p.Call.Principal = hook.Principal
	}
	switch {
	case s.name == asGateway:
		p.Call.Surface, p.Call.Dialect, p.Call.Agent = stopgate.SurfaceGateway, "openai-chat", cmp.Or(call.Agent, "main")
		if d := inputs.DefinitionOf(tools, call.Tool); d != nil {
			d := *d
			d.EmptyMeansNone = true // in every dialect
			p.Call.Definition = &d
		}
	case s.name == asMCP:
		own := string(call.Tool)
		if server, rest, ok := strings.Cut(own, "__"); ok && call.Server == "" && mcpgate.ValidServerID(stopgate.ServerID(server)) {
			p.Call.Server, own = stopgate.ServerID(server), rest
		}
		if d := inputs.DefinitionOf(tools, stopgate.ToolName(own)); d != nil {
			d := *d
			d.Pinned = true // a tool whose definition is not accepted is disabled
			p.Call.Definition = &d
		}
		p.Call = mcpgate.NewCall(p.Call, p.Call.Server, stopgate.ToolName(own))
	case s.host != nil:
		if len(tools) > 0 {
			return p, cli.Usagef("a hook knows the tools of its host, and no definition of others: leave out --tools")
		}
		call.Args = args
		if p.Event, err = s.host.Read(s.host.BuildEvent(call, s.root)); err != nil {
			p.Unread = err
		}
		p.Call = p.Event.Call
		p.Call.Tool = cmp.Or(p.Call.Tool, call.Tool)
		p.Args, p.Call.Args = p.Call.Args, nil
	default:
		p.Call.Surface, p.Call.Definition = stopgate.SurfaceDecide, inputs.DefinitionOf(tools, call.Tool)
	}
	return p, nil
}

// Find finds and reads the policy where the surface looks for it.
func (s Surface) Find(talk io.Writer, f *inputs.Policy) (l inputs.Loaded, err error) {
	if s.root != "" {
		if info, err := os.Stat(s.root); err != nil || !info.IsDir() {
			return l, cli.Usagef("--root %s is no directory", s.root)
		}
	}
	if s.host != nil || s.name == asMCP {
		f.Dir = s.root
	}
	return f.Find(talk)
}

// Compile compiles the policy for a call: where commands run is known from it.
func (s Surface) Compile(l *inputs.Loaded, p Proposal) error {
	switch {
	case s.name == "":
		o := s.paths()
		o.Definitions = l.Tools
		return l.Compile(o)
	case s.name == asMCP:
		return l.Compile(inputs.WorkingIn(l.Set, s.root, ""))
	case s.host == nil:
		return l.Compile(policy.Options{})
	}
	var caller process.Caller
	event := p.Event
	if event == nil {
		event = new(hook.Event)
	}
	o := caller.Options(l.Set, s.root, event, "")
	err := l.Compile(o)
	if err == nil && caller.Stored(&o, l.Program) {
		err = l.Compile(o)
	}
	return err
}

// paths returns the options without a surface: below a root, paths lead through its files as for
// a hook.
func (s Surface) paths() policy.Options {
	if s.root == "" {
		return policy.Options{}
	}
	o := process.Caller{}.Options(config.Set{}, s.root, &hook.Event{Dir: s.root}, "")
	o.UnknownTool = stopgate.Deny // as surfaces that are no hooks have it
	return o
}

// RunsElsewhere reports whether the policy has to be compiled again for the next call.
func (s Surface) RunsElsewhere(last, next *hook.Event) bool {
	if s.host == nil || next == nil {
		return false
	}
	return last == nil && next.Run+next.Dir != "" || last != nil && (last.Run != next.Run || last.Dir != next.Dir || last.RunUncertain != next.RunUncertain || last.RunUnknown != next.RunUnknown)
}

// Hide removes the definition of a tool that the surface does not show to clients.
func (s Surface) Hide(p *Proposal, program *policy.Program) {
	if s.name == asMCP && p.Call.Definition != nil && mcpgate.Hidden(program, p.Call) {
		p.Call.Definition, p.hidden = nil, true
		p.absent = !program.BindUnder(p.Call, eval.Circumstances{}).Evaluate().Verdict().Terminal()
	}
}

// Answers makes an answer the surface's. data are the session's.
func (s Surface) Answers(a Answer, p Proposal, v stopgate.Verdict, data jsonstream.Value, program *policy.Program) Answer {
	a.As, a.MayDiffer = s.name, s.doubts(p, program)
	switch {
	case p.Event != nil:
		said := s.host.Preview(p.Event, v, p.evaluate(program, data).Args())
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

// Unreadable is the answer to a call that the hook cannot read.
func (s Surface) Unreadable(p Proposal, size int) Answer {
	code := stopgate.CodeProtocolViolation
	a := NewAnswer(p.Call, stopgate.Verdict{Mode: stopgate.Deny, Layer: stopgate.LayerIntegrity, Code: code, Public: code.Public()}, size)
	a.As, a.Cause = s.name, "the event cannot be read: "+p.Unread.Error()
	return a
}

// Facts that a surface knows and that were not given, as the field may_differ names them.
const (
	noSurface    = "no surface (--as)"
	noRoot       = "no root of the project (--root)"
	noDefinition = "no definition of the tool (--tools)"
	noPast       = "no past of the session"
	noGroups     = "no groups of the caller (--group)"
)

// surfaceKnows is the same in a sentence about the surface.
var surfaceKnows = map[string]string{
	noSurface:    "its tools",
	noRoot:       "the root directory (--root)",
	noDefinition: "the tool's schema (--tools)",
	noPast:       "the session's past",
	noGroups:     "the groups of the caller (--group)",
}

// doubts lists the facts that the surface knows and that were not given, which may change its
// answer.
func (s Surface) doubts(p Proposal, program *policy.Program) (why []string) {
	if s.name == "" {
		why = append(why, noSurface)
		if s.root == "" {
			why = append(why, noRoot)
		}
	}
	if s.host == nil && p.Call.Definition == nil && !p.hidden {
		why = append(why, noDefinition)
	}
	if p.fresh && (len(program.SessionPolicies()) > 0 || program.LooksAtSessions() && !p.told) {
		why = append(why, noPast)
	}
	if s.host == nil && program.LooksAtGroups() && !p.Call.Groups.Known() {
		why = append(why, noGroups)
	}
	return why
}

// mayDiffer explains why the answer of a surface may differ.
func (a Answer) mayDiffer() string {
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
