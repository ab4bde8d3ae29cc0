package decide

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxBody limits the body of a request: the argument limit of a call plus the other members.
const maxBody = 20 << 20

// bodyTimeout limits the time in which a client sends a body that is read as a whole.
const bodyTimeout = time.Minute

// readBody reads a body to its end.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	// Channels without deadlines are in-process; they need no timeout.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	_ = control.SetReadDeadline(time.Time{}) // waiting for the response is not limited
	return text, err
}

// members decodes a body as one JSON object with the known members. It rejects other members,
// repeated members, names in a different case, and text after the object.
func members(w http.ResponseWriter, r *http.Request, known ...string) (map[string]jsonstream.Value, *problem) {
	text, err := readBody(w, r, maxBody)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &problem{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Detail: "the body is too long"}
	case err != nil:
		return nil, badRequest("body_unreadable", "the body ended early")
	}
	return object(text, known...)
}

func object(text []byte, known ...string) (map[string]jsonstream.Value, *problem) {
	root, bad := anyObject(text)
	if bad != nil {
		return nil, bad
	}
	found := map[string]jsonstream.Value{}
	for key, v := range root.Members() {
		name := key.Text()
		ok := false
		for _, k := range known {
			ok = ok || k == name
		}
		if !ok {
			return nil, badRequest("unknown_member", "there is no member "+string(jsonstream.AppendQuote(nil, name))+"; there are "+strings.Join(known, ", "))
		}
		found[name] = v
	}
	return found, nil
}

// maxName limits the names of a call in bytes, because every row of the call contains them.
// maxReason limits the reason of an answer.
const (
	maxName   = 1024
	maxReason = 4096
)

// nameMember decodes an optional or required string member of limited length.
func nameMember(m map[string]jsonstream.Value, name string, required bool, limit int) (string, *problem) {
	s, bad := text(m, name, required)
	if bad == nil && len(s) > limit {
		return "", badRequest("too_long", name+" may have "+strconv.Itoa(limit)+" bytes")
	}
	return s, bad
}

// text decodes an optional or required string member.
func text(m map[string]jsonstream.Value, name string, required bool) (string, *problem) {
	v, ok := m[name]
	switch {
	case !ok && required:
		return "", badRequest("member_missing", name+" is required")
	case !ok:
		return "", nil
	case v.Kind() != jsonstream.String:
		return "", badRequest("member_type", name+" must be a string")
	}
	return v.Text(), nil
}

// boolean decodes an optional boolean member.
func boolean(m map[string]jsonstream.Value, name string) (value, given bool, p *problem) {
	v, ok := m[name]
	switch {
	case !ok:
		return false, false, nil
	case v.Kind() == jsonstream.True:
		return true, true, nil
	case v.Kind() == jsonstream.False:
		return false, true, nil
	}
	return false, true, badRequest("member_type", name+" must be true or false")
}

// callMembers are the members of a call, without its arguments.
var callMembers = []string{"tool", "session", "agent", "turn", "call_id", "server", "conversation", "definition"}

// callOf decodes a call without its arguments.
func callOf(m map[string]jsonstream.Value, who caller) (c stopgate.Call, p *problem) {
	var fields [7]string
	for i, name := range callMembers[:7] {
		if fields[i], p = nameMember(m, name, name == "tool", maxName); p != nil {
			return c, p
		}
	}
	c = stopgate.Call{
		Tool: stopgate.ToolName(fields[0]), Session: stopgate.SessionID(fields[1]), Agent: stopgate.AgentName(fields[2]),
		Turn: stopgate.TurnID(fields[3]), ID: stopgate.CallID(fields[4]), Server: stopgate.ServerID(fields[5]),
		Conversation: fields[6], Principal: who.name, Groups: who.groups, Surface: stopgate.SurfaceDecide,
	}
	if v, ok := m["definition"]; ok {
		c.Definition, p = definitionOf(v, c.Tool)
	}
	return c, p
}

// wholeCall decodes a body that is a call with its arguments. It returns all members, including
// those named in more.
func wholeCall(w http.ResponseWriter, r *http.Request, who caller, more ...string) (c stopgate.Call, args []byte, m map[string]jsonstream.Value, p *problem) {
	known := append(callMembers[:len(callMembers):len(callMembers)], "args", "raw")
	if m, p = members(w, r, append(known, more...)...); p != nil {
		return c, nil, nil, p
	}
	if c, p = callOf(m, who); p != nil {
		return c, nil, nil, p
	}
	args, p = argsOf(m)
	return c, args, m, p
}

// definitionOf decodes the declaration of a tool: {"description", "parameters"}.
func definitionOf(v jsonstream.Value, name stopgate.ToolName) (*stopgate.ToolDefinition, *problem) {
	if v.Kind() != jsonstream.Object {
		return nil, badRequest("member_type", "definition must be an object")
	}
	d := &stopgate.ToolDefinition{Name: name}
	for key, member := range v.Members() {
		switch k := key.Text(); {
		case k == "description" && member.Kind() == jsonstream.String:
			d.Description = member.Text()
		case k == "parameters" && member.Kind() == jsonstream.Object:
			d.Schema = append([]byte(nil), member.Raw()...)
		default:
			return nil, badRequest("unknown_member", "a definition has a description and parameters")
		}
	}
	return d, nil
}

// argsOf decodes the arguments: args, a JSON object, or raw, the text as received from the model. A
// string in args is text in the wrong member and is a problem of the request; a denial would blame
// the model, which cannot correct it.
func argsOf(m map[string]jsonstream.Value) ([]byte, *problem) {
	args, whole := m["args"]
	raw, asText := m["raw"]
	switch {
	case whole == asText:
		return nil, badRequest("member_missing", "either args or raw is required")
	case asText && raw.Kind() != jsonstream.String:
		return nil, badRequest("member_type", "raw must be a string")
	case asText:
		return raw.AppendText([]byte{}), nil
	case args.Kind() == jsonstream.String:
		return nil, badRequest("member_type", "args is the JSON object itself; arguments as text, as APIs of models send them, go into raw")
	}
	return append([]byte{}, args.Raw()...), nil
}

// anyObject parses text that must be one JSON object.
func anyObject(text []byte) (jsonstream.Value, *problem) {
	root, err := jsonstream.Parse(text, jsonstream.Options{})
	switch {
	case err != nil:
		return root, badRequest("malformed_body", err.Error())
	case root.Kind() != jsonstream.Object:
		return root, badRequest("malformed_body", "the body must be one JSON object")
	}
	return root, nil
}
