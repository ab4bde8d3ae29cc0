package hook

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// Rewrite says what a host does with new arguments.
type Rewrite uint8

// The ways.
const (
	Fixed   Rewrite = iota // it takes none
	Replace                // they replace what the model wrote
	Merge                  // their members replace those of the same name: none can be taken out
)

// Host is a coding agent whose hooks the gate speaks. Hosts are values of this
// package; see [Lookup].
type Host struct {
	// Name is how commands and sessions call the host.
	Name string
	// Title is how people call it.
	Title string
	// Asks says that a hook can make the host ask its user.
	Asks bool
	// Rewrite says whether arguments can be replaced.
	Rewrite Rewrite
	// Results says that a result can be kept from the model.
	Results bool
	// Holes are what a hook of this host cannot keep from happening, for people.
	Holes []string

	fields    fields
	events    map[string]Kind
	prompting string                  // the event with which the host is about to ask its user anyway
	event     string                  // the name of the event where the host does not say it
	unnamed   func(root value) string // the name of the event, by its members; nil for event
	failures  map[string]bool
	broke     func(event, result value) bool // whether a result is one of a call that failed
	fixed     map[string]fixedTool
	prefix    map[string]string // what an event leaves out before the names of its tools
	nested    []string          // members of the event in which tool, input and result stand
	tools     *knowntools.Host
	mcp       func(h *Host, tool string) (server, name string, ok bool)
	answer    func(h *Host, e *Event, a Answer) Reply
}

// otherHooks is a hole of hosts that run several hooks and take new arguments of each.
const otherHooks = "another hook that gives new arguments makes the tool run with what the gate has not judged"

// fixedTool is the tool that an event is always about, and the members of the event
// that are its arguments.
type fixedTool struct {
	tool    string
	members []string
}

// maker makes a host: a process that answers one event needs one of them.
type maker struct {
	name string
	make func() *Host
}

// makers are those of every host, in the order in which people read of them.
func makers() []maker {
	return []maker{
		{"claude-code", claudeCode}, {"codex", codex}, {"gemini-cli", geminiCLI}, {"copilot-cli", copilotCLI}, {"cursor", cursor}, {"qwen-code", qwenCode},
		{"crush", crush}, {"opencode", opencode}, {"cline", cline}, {"pi", pi}, {"generic", generic},
	}
}

// Names lists the hosts.
func Names() []string {
	var names []string
	for _, m := range makers() {
		names = append(names, m.name)
	}
	return names
}

// Lookup returns the host with a name.
func Lookup(name string) (*Host, error) {
	for _, m := range makers() {
		if m.name == name {
			h := m.make()
			h.tools = knowntools.ForHost(name)
			return h, nil
		}
	}
	if near := diag.Suggest(name, Names()); near != "" {
		return nil, fmt.Errorf("no host is called %q; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("no host is called %q; there are: %s", name, strings.Join(Names(), ", "))
}

// name finds the name that policies use for the tool of an event, and what is known
// about the tool. A tool that no table knows is declared all the same: the host has
// just said that it exists (DECISIONS S33).
func (h *Host) name(e *Event, root value) {
	e.Call.Tool, e.Call.Server = canonical(h, e.HostTool, root)
	t := h.contract(e)
	e.Harmless = t.Harmless
	e.Call.Definition = t.definition(e.Call.Tool)
}

// parts splits the name of an MCP tool: what stands before the first sep behind the
// prefix is the server.
func parts(prefix, sep string) func(*Host, string) (string, string, bool) {
	return func(_ *Host, tool string) (server, name string, ok bool) {
		rest, ok := strings.CutPrefix(tool, prefix)
		if !ok {
			return "", "", false
		}
		server, name, ok = strings.Cut(rest, sep)
		return server, name, ok && server != "" && name != ""
	}
}
