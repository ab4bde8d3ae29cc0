package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

const (
	maxTools = 1_000
	maxPages = 100
)

// learn reads the complete list of the server. The caller holds the turn.
func (s *server) learn(ctx context.Context, live *connection) error {
	s.mu.Lock()
	s.stale = false // later changes are read the next time
	before := s.tools
	s.mu.Unlock()
	l := &listing{server: s, revision: live.revision(), seen: map[stopgate.ToolName]bool{}}
	cursor := ""
	for page := 0; ; page++ {
		params := ""
		if cursor != "" {
			params = object{}.text("cursor", cursor).end()
		}
		m, err := live.ask(ctx, question{method: "tools/list", params: params})
		if err != nil {
			return fmt.Errorf("its tools cannot be listed: %w", err)
		}
		if m.Kind == jsonrpc.ErrorResponse {
			if code, ok := m.Error.Get("code"); ok && string(code.Raw()) == "-32601" && page == 0 {
				break // a server without tools
			}
			return fmt.Errorf("its tools cannot be listed: %s", reason(m))
		}
		next, err := l.page(m)
		if err != nil {
			return err
		}
		if next == "" || next == cursor || page == maxPages {
			break
		}
		cursor = next
	}
	s.mu.Lock()
	s.tools, s.leftOut = l.tools, l.leftOut
	s.mu.Unlock()
	l.reportChanges(before)
	return nil
}

// listing is a list that is being read.
type listing struct {
	*server
	revision string
	tools    []*tool
	leftOut  []string
	hidden   []string
	seen     map[stopgate.ToolName]bool
}

// errList is the error of an invalid list of tools.
var errList = errors.New("its list of tools cannot be read")

// page adds one page.
func (l *listing) page(m *jsonrpc.Message) (next string, err error) {
	given, ok := m.Result.Get("tools")
	if !ok || given.Kind() != jsonstream.Array {
		return "", errList
	}
	// The model sees hidden characters as escapes; pins cover the original definition.
	edits, hidden := m.Edit(), 0
	definition.VisitHidden(given, func(v jsonstream.Value, shown string) {
		hidden++
		edits.Replace(v, jsonstream.AppendQuote(nil, shown))
	})
	clean := given
	if hidden > 0 {
		text, err := edits.Text()
		if err != nil {
			return "", errList
		}
		read, err := jsonrpc.Read(text)
		if err != nil {
			return "", errList
		}
		clean, _ = read.Result.Get("tools")
	}
	shown := slices.Collect(clean.Elements())
	i := 0
	for v := range given.Elements() {
		if i >= len(shown) {
			break
		}
		l.take(v, shown[i])
		i++
	}
	if v, ok := m.Result.Get("nextCursor"); ok {
		next = textOf(v)
	}
	return next, nil
}

// take adds one definition: the original, and the one for the model.
func (l *listing) take(sent, shown jsonstream.Value) {
	d, bad := definition.Parse(sent)
	name := "a tool"
	if v, ok := sent.Get("name"); ok {
		name = visible.Elide(visible.Text(textOf(v)), 64)
	}
	var marks mirror.Params
	if bad == "" && l.revision == protocol.Modern {
		schema, _ := sent.Get("inputSchema")
		marks, bad = mirror.ParseSchema(schema)
	}
	switch {
	case bad != "":
	case l.seen[d.Name]:
		bad = "another tool has its name"
	case !stopgate.ValidToolName(l.qualifiedName(d.Name)):
		bad = "its name is too long"
	case len(l.tools) >= maxTools:
		bad = fmt.Sprintf("there are more than %d", maxTools)
	}
	if bad != "" {
		l.leftOut = append(l.leftOut, name+": "+bad)
		return
	}
	l.seen[d.Name] = true
	t := &tool{Tool: d, hash: d.Hash, marks: marks}
	if pins := l.set.o.Pins; pins != nil {
		same, err := pins.Check(l.at.Identity, d.Name, d.Hash, d.Canonical)
		if t.changed = err != nil || !same; err != nil {
			l.leftOut = append(l.leftOut, name+": "+err.Error())
		}
	}
	if string(sent.Raw()) != string(shown.Raw()) {
		if t.Tool, bad = definition.Parse(shown); bad != "" {
			l.leftOut = append(l.leftOut, name+": "+bad)
			return
		}
		l.hidden = append(l.hidden, name)
	}
	t.Pinned = l.set.o.Pins != nil && !t.changed
	l.tools = append(l.tools, t)
}

// reportChanges reports changes of the list to the user.
func (l *listing) reportChanges(before []*tool) {
	known := map[stopgate.ToolName]string{}
	for _, t := range before {
		known[t.Name] = t.hash
	}
	id := l.at.ID
	for _, t := range l.tools {
		if t.changed && known[t.Name] != t.hash {
			l.set.o.Notice(fmt.Sprintf("MCP server %s: %s has changed since it was accepted and is refused; see stopgate mcp pin show %s %s", id, t.Name, l.at.Identity, t.Name))
		}
	}
	if before != nil {
		return
	}
	for _, name := range l.hidden {
		l.set.o.Notice(fmt.Sprintf("MCP server %s: the description of %s holds characters that nobody sees; the model gets them as escapes", id, name))
	}
	for _, why := range l.leftOut {
		l.set.o.Notice(fmt.Sprintf("MCP server %s: a tool is left out: %s", id, why))
	}
}
