package wire

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Switches reads the members of a request that no codec reads itself, and finds those that
// make the provider run a tool. Providers keep adding such members, so the reader knows the
// ones that do not (Plain) and judges every other by its shape: its name, the names inside of
// its value, and the types of the objects in it.
type Switches struct {
	// Plain are the members that run no tool, whatever their values are.
	Plain map[string]bool
	// Read are the members that the codec reads itself. Inside of extra_body, which some
	// proxies merge into the request, each of them is a switch.
	Read []string
}

// extraBody is the member whose members some proxies take for members of the request.
const extraBody = "extra_body"

// Member looks at one member of a request and declares the tool that it switches on, under
// the name of the member.
func (s *Switches) Member(r *Request, key []byte, v jsonstream.Value) {
	name := string(key)
	if name != extraBody {
		if s.on(name, v, 0) {
			r.DeclareServer(name)
		}
		return
	}
	for k, inner := range v.Members() {
		name := string(Key(k))
		if s.on(name, inner, 0) || Present(inner) && s.reads(name) {
			r.DeclareServer(extraBody + "." + name)
		}
	}
}

func (s *Switches) reads(name string) bool {
	for _, read := range s.Read {
		if letters(read) == letters(name) {
			return true
		}
	}
	return false
}

// maxSwitchDepth bounds how deep a value is searched; a value that goes deeper counts as a
// switch.
const maxSwitchDepth = 6

// on reports whether a member switches a tool on.
func (s *Switches) on(name string, v jsonstream.Value, depth int) bool {
	if s.Plain[name] || off(v) {
		return false
	}
	return toolName(name) || s.inside(v, depth)
}

// inside reports whether a value has a switch in it.
func (s *Switches) inside(v jsonstream.Value, depth int) bool {
	if v.Kind() != jsonstream.Object && v.Kind() != jsonstream.Array {
		return false
	}
	if depth == maxSwitchDepth {
		return true
	}
	for element := range v.Elements() {
		if s.inside(element, depth+1) {
			return true
		}
	}
	for k, member := range v.Members() {
		name := string(Key(k))
		if name == "type" && member.Kind() == jsonstream.String && toolName(member.Text()) || s.on(name, member, depth+1) {
			return true
		}
	}
	return false
}

// off reports whether a value leaves a switch off: nothing, or a word for it. An empty object
// does not: it asks for a tool with its defaults.
func off(v jsonstream.Value) bool {
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
		said := false
		for _, name := range [...]string{"mode", "type", "enabled", "enable"} {
			state, ok := v.Get(name)
			switch {
			case !ok || state.Kind() == jsonstream.Object || state.Kind() == jsonstream.Null:
			case !off(state):
				return false
			default:
				said = true
			}
		}
		return said
	}
	return !v.IsValid()
}

// toolWords are the words with which providers name members that run tools.
var toolWords = [...]string{
	"tool", "plugin", "connector", "mcp", "search", "brows", "function", "agent", "retriev", "grounding", "datasource", "knowledge", "skill",
	"codeinterp", "codeexec", "executecode", "runcode", "sandbox", "internet", "webaccess", "crawl", "scrape", "webfetch", "urlcontext", "preset", "workflow",
	"computeruse", "serverurl", "compound",
}

// toolName reports whether a name is one that a member which runs tools could have.
func toolName(name string) bool {
	plain := letters(name)
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

// letters is a name without its case and without what is no letter.
func letters(name string) string {
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

// DeclareModel declares the tools that a model's name implies: models that search whatever
// the request says, and models with a suffix that switches a search on. The type is
// "model:" and the name, so that [gateway] server_tools can list it.
func (r *Request) DeclareModel(model string) {
	if impliesTools(strings.ToLower(model)) {
		r.DeclareServer("model:" + model)
	}
}

func impliesTools(model string) bool {
	base := model[strings.LastIndexByte(model, '/')+1:]
	return strings.Contains(model, ":online") || strings.HasPrefix(model, "@preset/") || strings.Contains(model, "@preset/") ||
		strings.Contains(base, "-search-") || strings.HasSuffix(base, "-search") || strings.Contains(base, "deep-research") ||
		base == "compound" || strings.HasPrefix(base, "compound-") || base == "sonar" || strings.HasPrefix(base, "sonar-")
}

// DeclareModels declares what the models of a list imply, from which the provider chooses.
func (r *Request) DeclareModels(list jsonstream.Value) {
	for v := range list.Elements() {
		r.DeclareModel(v.Text())
	}
}

// DeclareLoaded adds a client-executed tool that the conversation declares and not the
// request's own list of tools: one that was loaded on the way. Clients send such a
// declaration again with every request, and may have it in their list too; the same
// definition twice is one tool, two definitions of one name are none.
func (r *Request) DeclareLoaded(def stopgate.ToolDefinition) {
	if known := r.Tool(def.Name); known != nil && known.Description == def.Description && sameSchema(known.Schema, def.Schema) {
		return
	}
	r.Declare(def)
}

// sameSchema reports whether two schemas are one value, in any spelling.
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
