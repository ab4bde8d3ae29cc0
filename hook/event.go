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

// Kind says what a host's event is about. The zero Kind is an event that could not
// be read.
type Kind uint8

// The kinds.
const (
	Unreadable Kind = iota
	Before          // a tool is about to run
	After           // a tool ran
	Prompt          // the user said something
	Other           // nothing that the gate decides about
)

// Event is one thing that a host tells its hook.
type Event struct {
	Kind Kind
	row  atomic.Bool // somebody writes its row: a gate that has the call, or who denies without one
	// Name is the event as the host calls it.
	Name string
	// HostTool is the tool as the host calls it; Call.Tool is the name that policies
	// use (DECISIONS S39).
	HostTool string
	// Call holds the arguments as they came, in Call.Args.
	Call stopgate.Call
	// Extra is set where Call.Args hold the files of a patch, which the host did not write:
	// new arguments are never given to the host then.
	Extra bool
	// Sent are the arguments as the host sent them where Call.Args hold what a search looks
	// at too, nil otherwise.
	Sent []byte
	// Harmless says that the tool changes nothing and reveals nothing outside of the
	// project (DECISIONS S33).
	Harmless bool
	// Dir is the working directory of the session, "" if the host does not say.
	Dir string
	// Run is the directory in which the call says that its command lines run, absolute or
	// seen from Dir, "" if it says none. RunDoubt says that the tool may stay in Dir, RunLost
	// that what the call says names no directory with certainty.
	Run               string
	RunDoubt, RunLost bool
	// Result is what the tool gave back, as JSON; Failed that it did not succeed.
	Result []byte
	Failed bool
}

// MaxInput is the longest event that is read, in bytes.
const MaxInput = 64 << 20

var (
	errEvent   = errors.New("the event names no tool")
	errNoEvent = errors.New("the event has no name")
	errPatch   = errors.New("the patch cannot be read")
	errSearch  = errors.New("the search looks at more places than can be judged")
)

// fields are the names of a host's members, each with its spellings.
type fields struct {
	event, tool, input, id, session, dir, roots, turn, agent, result, failed []string
}

// snake are the names that most hosts took over from Claude Code.
var snake = fields{
	event: []string{"hook_event_name"}, tool: []string{"tool_name"}, input: []string{"tool_input"},
	id: []string{"tool_use_id"}, session: []string{"session_id"}, dir: []string{"cwd"}, turn: []string{"turn_id", "prompt_id"},
	agent: []string{"agent_type"}, result: []string{"tool_response"}, failed: []string{"error"},
}

// Read takes an event apart. An event that is no strict JSON, or that names no tool
// where it has to, is an error, and the answer to errors blocks.
func (h *Host) Read(text []byte) (*Event, error) {
	e := new(Event)
	root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return e, err
	}
	e.Name = first(root, h.fields.event).Text()
	if e.Name == "" && h.unnamed != nil {
		e.Name = h.unnamed(root)
	}
	if e.Name == "" {
		e.Name = h.event
	}
	if e.Name == "" {
		return e, errNoEvent
	}
	kind, known := h.events[e.Name]
	inner := root
	if v := first(root, h.nested); v.Kind() == jsonstream.Object {
		inner = v
	}
	tool := first(inner, h.fields.tool)
	switch {
	case !known && (tool.IsValid() || first(inner, h.fields.input).IsValid()):
		return e, errors.New("an unknown event about a tool")
	case !known && !isQuiet(e.Name):
		return e, fmt.Errorf("an event that nobody knows: %s", visible.Elide(e.Name, 60))
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
		// The client's own family of sessions (DECISIONS S22).
		e.Call.Session = stopgate.SessionID(h.Name + ":" + id)
	}
	if e.Kind == Prompt || e.Kind == Other {
		return e, nil
	}
	err = h.call(e, inner, tool)
	if err != nil {
		e.Kind = map[Kind]Kind{After: After}[e.Kind] // what ran is withheld, all else is refused
	}
	return e, err
}

// Principal is on whose behalf the calls of hooks are made (DECISIONS S22).
const Principal stopgate.Principal = "local"

// call reads the tool, its arguments and its result.
func (h *Host) call(e *Event, root, tool jsonstream.Value) error {
	e.HostTool = tool.Text()
	// What the event is about is not for a further member to say.
	if fixed, ok := h.fixed[e.Name]; ok && (!tool.IsValid() || first(root, fixed.members).IsValid()) {
		e.HostTool = fixed.tool
		e.Call.Args = pick(root, fixed.members)
	}
	if e.HostTool == "" {
		return errEvent
	}
	if !strings.HasPrefix(e.HostTool, h.prefix[e.Name]) {
		e.HostTool = h.prefix[e.Name] + e.HostTool
	}
	if e.Call.Args == nil {
		args, err := object(first(root, h.fields.input))
		if err != nil {
			return err
		}
		e.Call.Args = args
	}
	h.name(e, root)
	t := h.contract(e)
	t.directory(e)
	if patch := t.patch(); patch != nil {
		args, err := withFiles(e.Call.Args, patch)
		if err != nil {
			return err
		}
		e.Call.Args, e.Extra = args, true
	}
	more, ok := t.withTargets(e.Call.Args)
	if !ok {
		return errSearch
	}
	if more != nil {
		e.Call.Args, e.Sent = more, e.Call.Args
	}
	if e.Kind != After {
		return nil
	}
	result := first(root, h.fields.result)
	e.Result = result.Raw()
	failed := first(root, h.fields.failed)
	e.Failed = h.failures[e.Name] || failed.Kind() == jsonstream.True || failed.Kind() == jsonstream.String && failed.Text() != ""
	e.Failed = e.Failed || h.broke != nil && h.broke(root, result)
	if e.Result == nil && failed.IsValid() {
		e.Result = failed.Raw()
	}
	return nil
}

// object is the text of the arguments. Some hosts send them as a string that holds
// JSON, and leave them out where there are none.
func object(v jsonstream.Value) ([]byte, error) {
	switch v.Kind() {
	case jsonstream.Invalid, jsonstream.Null:
		return []byte("{}"), nil
	case jsonstream.String:
		return []byte(v.Text()), nil // the gate judges what it is
	}
	return v.Raw(), nil
}

// dir is the directory of the session: where an event does not say it, the first of
// the folders that the editor has open, as far as it is a path.
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

// first is the first of several members that there is; one that says nothing hides no
// other.
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

// quiet are the events of hosts that are about no call and no prompt, in lower case: a
// hook that is set for them by hand says nothing. So it is with what is over. What is not
// here may be a new name for an event about a tool, and is refused.
const quiet = " sessionstart sessionend sessiondelete setup stop stopfailure agentstop subagentstart subagentstop interrupt " +
	"precompact precompress notification configchange cwdchanged filechanged instructionsloaded worktreecreate worktreeremove " +
	"teammateidle taskstart taskresume taskcancel taskcomplete taskcreated taskcompleted messagedisplay userpromptexpansion " +
	"beforemodel beforetoolselection erroroccurred elicitation elicitationresult "

func isQuiet(event string) bool {
	name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(event))
	return strings.HasPrefix(name, "after") || strings.HasPrefix(name, "post") || !strings.Contains(name, " ") && strings.Contains(quiet, " "+name+" ")
}

// present reports whether a member is there and not null.
func present(v jsonstream.Value, name string) bool {
	m, ok := v.Get(name)
	return ok && m.Kind() != jsonstream.Null
}

// pick makes arguments of members of the event itself.
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
