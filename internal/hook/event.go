package hook

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// Kind is the kind of a host's event. The zero Kind is an event that could not be read.
type Kind uint8

// Kinds of events.
const (
	Unreadable Kind = iota
	Before          // a tool is about to run
	After           // a tool ran
	Prompt          // the user sent a prompt
	Other           // no decision is needed
)

// Event is one event of a host.
type Event struct {
	Kind     Kind
	recorded atomic.Bool // a record of the call is written, or a gate that writes it is open
	// Name is the host's name of the event.
	Name string
	// HostTool is the host's name of the tool; Call.Tool is its name in policies (S39).
	HostTool string
	// Call.Args holds the arguments as they were received.
	Call stopgate.Call
	// PatchFiles reports that Call.Args contains the files of a patch, which the host did
	// not send. Arguments are then never sent back to the host.
	PatchFiles bool
	// SentArgs are the arguments as the host sent them if the targets of a search were
	// added to Call.Args, nil otherwise.
	SentArgs []byte
	// Harmless reports that the tool changes nothing and reads nothing outside the project
	// (S33).
	Harmless bool
	// Dir is the working directory of the session, "" if the event has none.
	Dir string
	// Run is the directory in which the call's command lines run, absolute or relative
	// to Dir, "" if the call has none. RunUncertain reports that the tool may use Dir
	// instead, RunUnknown that the call does not name a directory unambiguously.
	Run                      string
	RunUncertain, RunUnknown bool
	// Result is the result of the tool as JSON. Failed reports that the call failed.
	Result []byte
	Failed bool
	// Prompt is the text of a prompt, nil if the event has none. Typed reports that a person wrote
	// it: hosts also send prompts of sub-agents and schedules. Delegated reports that the event is
	// one of a sub-agent.
	Prompt           []byte
	Typed, Delegated bool
}

// MaxInput is the maximum size of an event in bytes.
const MaxInput = 64 << 20

var (
	errNoTool  = errors.New("the event names no tool")
	errNoEvent = errors.New("the event has no name")
	errPatch   = errors.New("the patch cannot be parsed, or the arguments already contain patch_paths")
	errSearch  = errors.New("the search has too many targets to evaluate, or the arguments already contain search_paths or search_globs")
)

// fields are the names of a host's members, each with its variants.
type fields struct {
	event, tool, input, id, session, dir, roots, turn, agent, result, failed []string
	prompt, subAgent                                                         []string
}

// snakeCase are the names of Claude Code, which most hosts have adopted.
var snakeCase = fields{
	event: []string{"hook_event_name"}, tool: []string{"tool_name"}, input: []string{"tool_input"},
	id: []string{"tool_use_id"}, session: []string{"session_id"}, dir: []string{"cwd"}, turn: []string{"turn_id", "prompt_id"},
	agent: []string{"agent_type"}, result: []string{"tool_response"}, failed: []string{"error"},
	prompt: []string{"prompt"}, subAgent: []string{"agent_id"},
}

// Read parses an event. It returns an error if the event is not strict JSON or an event
// about a tool names none; the caller must then block.
func (h *Host) Read(text []byte) (*Event, error) {
	e := new(Event)
	root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return e, err
	}
	e.Name = first(root, h.fields.event).Text()
	if e.Name == "" && h.eventName != nil {
		e.Name = h.eventName(root)
	}
	if e.Name == "" {
		e.Name = h.defaultEvent
	}
	if e.Name == "" {
		return e, errNoEvent
	}
	kind, known := h.events[e.Name]
	inner := root
	if v := first(root, h.nestedMembers); v.Kind() == jsonstream.Object {
		inner = v
	}
	tool := first(inner, h.fields.tool)
	switch {
	case !known && (tool.IsValid() || first(inner, h.fields.input).IsValid()):
		return e, errors.New("unknown event about a tool")
	case !known && !isIgnored(e.Name):
		return e, fmt.Errorf("unknown event %q", visible.Elide(e.Name, 60))
	case !known:
		e.Kind = Other
	default:
		e.Kind = kind
	}
	e.Dir = h.dir(root)
	e.Call = stopgate.Call{
		ID: stopgate.CallID(cmp.Or(first(inner, h.fields.id).Text(), first(root, h.fields.id).Text())), Turn: stopgate.TurnID(first(root, h.fields.turn).Text()),
		Agent: stopgate.AgentName(first(root, h.fields.agent).Text()), Principal: Principal, Surface: stopgate.SurfaceHook, Dialect: h.Name,
	}
	if e.Call.Agent == "" {
		e.Call.Agent = "main"
	}
	if id := first(root, h.fields.session).Text(); id != "" {
		// Sessions of different hosts have different prefixes (S22).
		e.Call.Session = stopgate.SessionID(h.Name + ":" + id)
	}
	e.Delegated = first(root, h.fields.subAgent).IsValid() && first(root, h.fields.subAgent).Kind() != jsonstream.Null
	if e.Kind == Prompt {
		h.readPrompt(e, root, inner)
	}
	if e.Kind == Prompt || e.Kind == Other {
		return e, nil
	}
	err = h.readCall(e, inner, tool)
	if err != nil {
		e.Kind = map[Kind]Kind{After: After}[e.Kind] // withhold the result of a tool that ran; block everything else
	}
	return e, err
}

// Principal is the principal of all calls of hooks (S22).
const Principal stopgate.Principal = "local"

// readCall reads the tool, its arguments and its result.
func (h *Host) readCall(e *Event, root, tool jsonstream.Value) error {
	e.HostTool = tool.Text()
	// An event about a fixed tool ignores a member that names another one.
	if fixed, ok := h.fixedTools[e.Name]; ok && (!tool.IsValid() || first(root, fixed.members).IsValid()) {
		e.HostTool = fixed.tool
		e.Call.Args = pick(root, fixed.members)
	}
	if e.HostTool == "" {
		return errNoTool
	}
	if !strings.HasPrefix(e.HostTool, h.toolPrefix[e.Name]) {
		e.HostTool = h.toolPrefix[e.Name] + e.HostTool
	}
	if e.Call.Args == nil {
		args, err := object(first(root, h.fields.input))
		if err != nil {
			return err
		}
		e.Call.Args = args
	}
	h.setTool(e, root)
	t := h.contract(e)
	t.setWorkDir(e)
	if patch := t.patch(); patch != nil {
		args, err := withFiles(e.Call.Args, patch)
		if err != nil {
			return err
		}
		e.Call.Args, e.PatchFiles = args, true
	}
	more, ok := t.withTargets(e.Call.Args)
	if !ok {
		return errSearch
	}
	if more != nil {
		e.Call.Args, e.SentArgs = more, e.Call.Args
	}
	if e.Kind != After {
		return nil
	}
	result := first(root, h.fields.result)
	e.Result = result.Raw()
	failed := first(root, h.fields.failed)
	e.Failed = h.failures[e.Name] || failed.Kind() == jsonstream.True || failed.Kind() == jsonstream.String && failed.Text() != ""
	e.Failed = e.Failed || h.isFailedResult != nil && h.isFailedResult(root, result)
	if e.Result == nil && failed.IsValid() {
		e.Result = failed.Raw()
	}
	return nil
}

// object returns the text of the arguments. Some hosts encode them as a string that
// contains JSON, and omit empty arguments.
func object(v jsonstream.Value) ([]byte, error) {
	switch v.Kind() {
	case jsonstream.Invalid, jsonstream.Null:
		return []byte("{}"), nil
	case jsonstream.String:
		return []byte(v.Text()), nil // the gate evaluates whether it is JSON
	}
	return v.Raw(), nil
}

// dir returns the directory of the session: the member of the event or else the first
// absolute workspace folder.
func (h *Host) dir(root jsonstream.Value) string {
	if dir := first(root, h.fields.dir).Text(); dir != "" {
		return dir
	}
	if roots := first(root, h.fields.roots); roots.Kind() == jsonstream.Array {
		for v := range roots.Elements() {
			if filepath.IsAbs(v.Text()) {
				return v.Text()
			}
		}
	}
	return ""
}

// first returns the first of several members that is present and not null.
func first(root jsonstream.Value, names []string) (found jsonstream.Value) {
	for _, n := range names {
		v, ok := root.Get(n)
		switch {
		case ok && v.Kind() != jsonstream.Null:
			return v
		case ok && !found.IsValid():
			found = v
		}
	}
	return found
}

// ignoredEvents are events of hosts that concern neither a call nor a prompt, in lower
// case. A hook that is configured for them returns no decision. The same holds for events
// after an operation. Other unknown events are refused, because they may be new events
// about tools.
const ignoredEvents = " sessionstart sessionend sessiondelete setup stop stopfailure agentstop subagentstart subagentstop interrupt " +
	"precompact precompress notification configchange cwdchanged filechanged instructionsloaded worktreecreate worktreeremove " +
	"teammateidle taskstart taskresume taskcancel taskcomplete taskcreated taskcompleted messagedisplay userpromptexpansion " +
	"beforemodel beforetoolselection erroroccurred elicitation elicitationresult "

func isIgnored(event string) bool {
	name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(event))
	return strings.HasPrefix(name, "after") || strings.HasPrefix(name, "post") || !strings.Contains(name, " ") && strings.Contains(ignoredEvents, " "+name+" ")
}

// present reports whether a member is present and not null.
func present(v jsonstream.Value, name string) bool {
	m, ok := v.Get(name)
	return ok && m.Kind() != jsonstream.Null
}

// pick returns arguments that consist of members of the event.
func pick(root jsonstream.Value, members []string) []byte {
	args := []byte{'{'}
	for _, m := range members {
		v, ok := root.Get(m)
		if !ok {
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = jsonstream.AppendQuote(args, m)
		args = append(append(args, ':'), v.Raw()...)
	}
	return append(args, '}')
}
