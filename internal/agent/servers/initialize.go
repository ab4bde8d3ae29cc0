package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/jsonstream"
)

// revision returns the negotiated revision, "" before the negotiation.
func (c *connection) revision() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

func (c *connection) speak(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}

// initialize negotiates a revision with the server.
func (c *connection) initialize(ctx context.Context, release string) error {
	me := object{}.text("name", "stopgate").text("version", release).end()
	hello := object{}.text("protocolVersion", protocol.Legacy[len(protocol.Legacy)-1]).raw("capabilities", "{}").raw("clientInfo", me).end()
	m, err := c.ask(ctx, question{method: "initialize", params: hello})
	if err == nil && m.Kind == jsonrpc.Response {
		v, _ := m.Result.Get("protocolVersion")
		version := textOf(v)
		if !slices.Contains(protocol.Legacy, version) {
			return fmt.Errorf("it speaks a revision of MCP that is not known here: %q", version)
		}
		c.speak(version)
		return c.Send(ctx, &link.Call{
			Text: jsonrpc.AppendRequest(nil, "", "notifications/initialized", nil), Method: "notifications/initialized", Version: version,
		})
	}
	if err != nil && !errors.As(err, new(*link.StatusError)) {
		return err
	}
	// A server that does not know initialize may support the revision without it.
	c.speak(protocol.Modern)
	found, again := c.ask(ctx, question{method: "server/discover"})
	if again != nil || found.Kind != jsonrpc.Response {
		if err == nil {
			err = errors.New("it refuses to be initialized: " + reason(m))
		}
		return err
	}
	versions, _ := found.Result.Get("supportedVersions")
	if versions.IsValid() && versions.Kind() == jsonstream.Array {
		for v := range versions.Elements() {
			if textOf(v) == protocol.Modern {
				return nil
			}
		}
	}
	return errors.New("it speaks no revision of MCP that is known here")
}

// question is a request to a server.
type question struct {
	method string
	name   string            // the tool, for the header that mirrors it
	args   map[string]string // headers that mirror arguments
	params string            // an object, "" for none
	on     func(*jsonrpc.Message)
}

// headers returns the headers of the revision without sessions. Links other than HTTP
// ignore them.
func (q question) headers() map[string]string {
	all := map[string]string{mirror.Method: q.method}
	if q.name != "" {
		all[mirror.Name] = mirror.Encode(q.name)
	}
	maps.Copy(all, q.args)
	return all
}

// ask sends a request and returns the response: a result or an error of the server.
func (c *connection) ask(ctx context.Context, q question) (*jsonrpc.Message, error) {
	version := c.revision()
	call := &link.Call{ID: c.id(), Method: q.method, Version: version, OnMessage: q.on}
	meta := object{}
	if q.on != nil {
		meta = meta.raw("progressToken", string(call.ID))
	}
	if version == protocol.Modern {
		meta = meta.text(protocol.MetaVersion, protocol.Modern).raw(protocol.MetaCapabilities, "{}")
		call.Headers = q.headers()
	}
	o := object{}
	if q.params != "" {
		o = object{members: q.params[1 : len(q.params)-1]}
	}
	if meta.members != "" {
		o = o.raw("_meta", meta.end())
	}
	call.Text = jsonrpc.AppendRequest(nil, call.ID, q.method, []byte(o.end()))
	r, err := c.Call(ctx, call)
	if err != nil {
		return nil, err
	}
	return r.Message, nil
}

// reason returns the message of an error response.
func reason(m *jsonrpc.Message) string {
	if m.Kind != jsonrpc.ErrorResponse {
		return "it does not say why"
	}
	message, _ := m.Error.Get("message")
	if text := textOf(message); text != "" {
		return text
	}
	return "it does not say why"
}

// textOf returns the text of a string, "" for other values.
func textOf(v jsonstream.Value) string {
	if !v.IsValid() || v.Kind() != jsonstream.String {
		return ""
	}
	return v.Text()
}

// object is a buffer for a JSON object.
type object struct{ members string }

func (o object) raw(name, json string) object {
	if o.members != "" {
		o.members += ","
	}
	o.members += string(jsonstream.AppendQuote(nil, name)) + ":" + json
	return o
}

func (o object) text(name, text string) object {
	return o.raw(name, string(jsonstream.AppendQuote(nil, text)))
}

func (o object) end() string { return "{" + o.members + "}" }
