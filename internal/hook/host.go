package hook

import (
	"fmt"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Rewrite describes how a host applies new arguments.
type Rewrite uint8

// Ways to apply new arguments.
const (
	NoRewrite   Rewrite = iota // not supported
	ReplaceArgs                // they replace the model's arguments
	MergeArgs                  // members replace those of the same name; members cannot be removed
)

// Host is a coding agent whose hooks are supported; see [Lookup].
type Host struct {
	// Name is the name of the host in commands and session ids.
	Name string
	// Title is the name of the host for people.
	Title string
	// CanAsk reports whether a hook can make the host ask its user.
	CanAsk bool
	// Rewrite describes whether a hook can change the arguments.
	Rewrite Rewrite
	// WithholdsResults reports whether a hook can withhold a result from the model.
	WithholdsResults bool
	// Limitations describes for people what a hook of this host cannot prevent.
	Limitations []string

	// Program is the name of the host's executable, "" if it has none.
	Program string
	// Settings describe where install writes the hook.
	Settings Settings
	// TrustHint is how the user makes the host run an installed hook, if the host runs only
	// hooks that it was told to trust.
	TrustHint string
	// Moves are further environment variables that move files of the host.
	Moves []Move
	// ProjectVariable is the environment variable in which the host passes the directory of the
	// project to hooks, "" if it does not.
	ProjectVariable string
	// Rules are the host's own permission rules that import converts.
	Rules Rules
	// Reports are the texts of a session that the host's events have completely.
	Reports flow.Knowledge
	// AttachTool is the tool, as policies name it, with which the host reads files that a prompt
	// names with "@". No event has their content.
	AttachTool stopgate.ToolName
	// Live returns how doctor runs the host against a scripted model. If it is nil, NotLive
	// is the reason.
	Live    func(Model) Live
	NotLive string

	fields         fields
	events         map[string]Kind
	promptEvent    string                  // the event before the host asks its user
	defaultEvent   string                  // the event name if the event does not contain it
	eventName      func(root value) string // derives the event name from the members; nil for defaultEvent
	failures       map[string]bool
	isFailedResult func(event, result value) bool // reports whether the result is that of a failed call
	fixedTools     map[string]fixedTool
	toolPrefix     map[string]string       // prefix that an event omits from its tool names
	nestedMembers  []string                // members of the event that contain tool, input and result
	tools          func() *knowntools.Host // parsed on first use
	splitMCP       func(h *Host, tool string) (server, name string, ok bool)
	format         func(h *Host, e *Event, a Decision) Reply
	typed          func(event value) bool // reports whether a person wrote a prompt; nil: always
	blocks         func(r Reply) bool     // reports whether a reply denies; nil for exit status 2 with a reason
}

// limitOtherHooks is a limitation of hosts that apply new arguments of several hooks.
const limitOtherHooks = "another hook that changes the arguments makes the tool run with arguments that were not evaluated"

// fixedTool is the tool of an event that is always about the same tool, with the members of
// the event that are its arguments.
type fixedTool struct {
	tool    string
	members []string
}

// hostEntry constructs a host on demand: a process that handles one event needs one host.
type hostEntry struct {
	name string
	make func() *Host
}

// registry returns all hosts, in the order for display.
func registry() []hostEntry {
	return []hostEntry{
		{"claude-code", claudeCode}, {"codex", codex}, {"gemini-cli", geminiCLI}, {"copilot-cli", copilotCLI}, {"cursor", cursor}, {"qwen-code", qwenCode},
		{"crush", crush}, {"opencode", opencode}, {"kilo", kilo}, {"cline", cline}, {"pi", pi}, {"generic", generic},
	}
}

// Names returns the names of all hosts.
func Names() []string {
	var names []string
	for _, m := range registry() {
		names = append(names, m.name)
	}
	return names
}

// All returns all hosts.
func All() []*Host {
	var hosts []*Host
	for _, m := range registry() {
		hosts = append(hosts, m.host())
	}
	return hosts
}

func (m hostEntry) host() *Host {
	h := m.make()
	h.tools = sync.OnceValue(func() *knowntools.Host { return knowntools.ForHost(m.name) })
	return h
}

// Lookup returns the host with the given name.
func Lookup(name string) (*Host, error) {
	for _, m := range registry() {
		if m.name == name {
			return m.host(), nil
		}
	}
	if near := diag.Suggest(name, Names()); near != "" {
		return nil, fmt.Errorf("unknown host %q; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("unknown host %q; supported hosts: %s", name, strings.Join(Names(), ", "))
}

// setTool sets the tool's name in policies and its definition. A tool that no table
// contains gets a definition as well, because the host has just named it (S33).
func (h *Host) setTool(e *Event, root value) {
	e.Call.Tool, e.Call.Server = canonical(h, e.HostTool, root)
	t := h.contract(e)
	e.Harmless = t.Harmless
	e.Call.Definition = t.definition(e.Call.Tool)
}

// splitPrefixed returns a function that splits the name of an MCP tool: the server is the
// part between prefix and the first sep.
func splitPrefixed(prefix, sep string) func(*Host, string) (string, string, bool) {
	return func(_ *Host, tool string) (server, name string, ok bool) {
		rest, ok := strings.CutPrefix(tool, prefix)
		if !ok {
			return "", "", false
		}
		server, name, ok = strings.Cut(rest, sep)
		return server, name, ok && server != "" && name != ""
	}
}
