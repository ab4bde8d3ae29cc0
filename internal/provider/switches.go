package provider

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// ToolSwitches finds request members that make the provider run a tool, among those that
// the codec does not handle. Providers keep adding such members. The harmless ones are
// listed; every other member is classified by its name, by the names inside its value, and
// by the types of the objects in it.
type ToolSwitches struct {
	// Harmless lists the members that never run a tool.
	Harmless map[string]bool
	// Handled lists the members that the codec handles itself. Inside extra_body, which
	// some proxies merge into the request, each of them counts as a switch.
	Handled []string
}

// extraBody is the member whose members some proxies merge into the request.
const extraBody = "extra_body"

// Declare declares the tool that a member of a request switches on, if any, under the name
// of the member.
func (s *ToolSwitches) Declare(r *Request, key []byte, v jsonstream.Value) {
	name := string(key)
	if name != extraBody {
		if s.switchesOn(name, v, 0) {
			r.DeclareServerTool(name)
		}
		return
	}
	for k, inner := range v.Members() {
		name := string(Key(k))
		if s.switchesOn(name, inner, 0) || Present(inner) && s.handles(name) {
			r.DeclareServerTool(extraBody + "." + name)
		}
	}
}

func (s *ToolSwitches) handles(name string) bool {
	for _, read := range s.Handled {
		if lettersOnly(read) == lettersOnly(name) {
			return true
		}
	}
	return false
}

// maxSwitchDepth limits how deep a value is searched. A deeper value counts as a switch.
const maxSwitchDepth = 6

// switchesOn reports whether a member switches a tool on.
func (s *ToolSwitches) switchesOn(name string, v jsonstream.Value, depth int) bool {
	if s.Harmless[name] || isOff(v) {
		return false
	}
	return looksLikeTool(name) || s.containsSwitch(v, depth)
}

// containsSwitch reports whether a value contains a switch.
func (s *ToolSwitches) containsSwitch(v jsonstream.Value, depth int) bool {
	if v.Kind() != jsonstream.Object && v.Kind() != jsonstream.Array {
		return false
	}
	if depth == maxSwitchDepth {
		return true
	}
	for element := range v.Elements() {
		if s.containsSwitch(element, depth+1) {
			return true
		}
	}
	for k, member := range v.Members() {
		name := string(Key(k))
		if name == "type" && member.Kind() == jsonstream.String && looksLikeTool(member.Text()) || s.switchesOn(name, member, depth+1) {
			return true
		}
	}
	return false
}

// isOff reports whether a value leaves a switch off: it is empty, or a word such as "none".
// An empty object does not: it requests a tool with its defaults.
func isOff(v jsonstream.Value) bool {
	switch v.Kind() {
	case jsonstream.False, jsonstream.Null:
		return true
	case jsonstream.Number:
		return string(v.Raw()) == "0"
	case jsonstream.String:
		switch strings.ToLower(v.Text()) {
		case "", "off", "none", "never", "false", "no", "disabled":
			return true
		}
	case jsonstream.Array:
		return v.Len() == 0
	case jsonstream.Object:
		round := false
		for _, name := range [...]string{"mode", "type", "enabled", "enable"} {
			state, ok := v.Get(name)
			switch {
			case !ok || state.Kind() == jsonstream.Object || state.Kind() == jsonstream.Null:
			case !isOff(state):
				return false
			default:
				round = true
			}
		}
		return round
	}
	return !v.IsValid()
}

// toolWords are words that occur in the names of members that run tools.
var toolWords = [...]string{
	"tool", "plugin", "connector", "mcp", "search", "brows", "function", "agent", "retriev", "grounding", "datasource", "knowledge", "skill",
	"codeinterp", "codeexec", "executecode", "runcode", "sandbox", "internet", "webaccess", "crawl", "scrape", "webfetch", "urlcontext", "preset", "workflow",
	"computeruse", "serverurl", "compound",
}

// looksLikeTool reports whether a member of this name could run tools.
func looksLikeTool(name string) bool {
	plain := lettersOnly(name)
	if strings.HasPrefix(plain, "disable") {
		return false
	}
	if strings.HasPrefix(plain, "enable") && plain != "enable" && plain != "enabled" {
		return true
	}
	for _, word := range toolWords {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return false
}

// lettersOnly returns the name in lower case without all characters that are not letters.
func lettersOnly(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return c
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return -1
	}, name)
}

// DeclareModel declares the tools that a model's name implies: models that always search,
// and models with a suffix that enables search. The type is "model:" and the name, so that
// server_tools of [gateway] can list it.
func (r *Request) DeclareModel(model string) {
	if impliesTools(strings.ToLower(model)) {
		r.DeclareServerTool("model:" + model)
	}
}

func impliesTools(model string) bool {
	base := model[strings.LastIndexByte(model, '/')+1:]
	return strings.Contains(model, ":online") || strings.HasPrefix(model, "@preset/") || strings.Contains(model, "@preset/") ||
		strings.Contains(base, "-search-") || strings.HasSuffix(base, "-search") || strings.Contains(base, "deep-research") ||
		base == "compound" || strings.HasPrefix(base, "compound-") || base == "sonar" || strings.HasPrefix(base, "sonar-")
}

// DeclareModels declares the capabilities of the models in a list from which the provider chooses.
func (r *Request) DeclareModels(list jsonstream.Value) {
	for v := range list.Elements() {
		r.DeclareModel(v.Text())
	}
}

// DeclareLoaded adds a client-executed tool that is declared in the conversation and not in
// the request's list of tools, because it was loaded during the conversation. Clients
// repeat such a declaration in every request, and may also have it in their list. Equal
// definitions are one tool; two different definitions of one name make it unknown.
func (r *Request) DeclareLoaded(def stopgate.ToolDefinition) {
	if known := r.Tool(def.Name); known != nil && known.Description == def.Description && sameSchema(known.Schema, def.Schema) {
		return
	}
	r.Declare(def)
}

// sameSchema reports whether two schemas are equal as JSON values.
func sameSchema(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	left, err := jsonstream.Parse(a, EnvelopeOptions(len(a)+1))
	if err != nil {
		return false
	}
	right, err := jsonstream.Parse(b, EnvelopeOptions(len(b)+1))
	return err == nil && jsonstream.HashCanonical(left) == jsonstream.HashCanonical(right)
}
