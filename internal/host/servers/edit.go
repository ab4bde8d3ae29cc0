package servers

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Gate is the command that is put before servers.
type Gate struct {
	Program string // an absolute path
	// Name returns the name of a server in policies, "" for none; nil for none.
	Name func(Server) string
	// Skip reports servers that stay as they are; nil for none.
	Skip func(Server) bool
}

// Insert puts the gate before the servers of a file that have a command and no gate, and returns those that it
// changed.
func (f File) Insert(text []byte, g Gate) (after []byte, changed []Server, err error) {
	entries, err := f.scan(text)
	if err != nil {
		return nil, nil, err
	}
	var edits []jsonstream.Edit
	for _, e := range entries {
		if e.Gated || e.Problem != "" || g.Skip != nil && g.Skip(e.Server) {
			continue
		}
		more, ok := f.wrap(text, e, g)
		if !ok {
			continue
		}
		edits, changed = append(edits, more...), append(changed, e.Server)
	}
	slices.SortFunc(edits, func(a, b jsonstream.Edit) int { return a.Start - b.Start })
	if after, err = jsonstream.Splice(nil, text, edits); err != nil {
		return nil, nil, fmt.Errorf("put the gate before servers: %w", err)
	}
	if err := f.proved(text, after, changed, g); err != nil {
		return nil, nil, err
	}
	return after, changed, nil
}

// wrap returns the edits of one server; false if its layout permits none that can be taken back.
func (f File) wrap(text []byte, e entry, g Gate) ([]jsonstream.Edit, bool) {
	words := []string{"mcp"}
	if g.Name != nil {
		if name := g.Name(e.Server); name != "" {
			words = append(words, "--name", name)
		}
	}
	words = append(words, "--")
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	lead := strings.Join(quoted, ", ")
	if f.words {
		return []jsonstream.Edit{{Start: e.args.start + 1, End: e.args.start + 1, Text: []byte(quote(g.Program) + ", " + lead + ", ")}}, true
	}
	// The command moves as it is written, with its escapes.
	lead += ", " + string(text[e.command.start:e.command.end])
	command := jsonstream.Edit{Start: e.command.start, End: e.command.end, Text: []byte(quote(g.Program))}
	switch {
	case e.args.end > 0:
		if len(e.list) > 0 {
			lead += ", "
		}
		return []jsonstream.Edit{command, {Start: e.args.start + 1, End: e.args.start + 1, Text: []byte(lead)}}, true
	case !f.toml:
		return []jsonstream.Edit{command, {Start: e.command.end, End: e.command.end, Text: []byte(`, "args": [ ` + lead + "]")}}, true
	}
	line := text[bytes.LastIndexByte(text[:e.key], '\n')+1 : e.key]
	if e.header && len(bytes.TrimSpace(line)) > 0 { // mcp_servers.x.command = "..."
		return nil, false
	}
	return []jsonstream.Edit{{Start: e.key, End: e.key, Text: []byte("args = [ " + lead + "]" + e.separator())}, command}, true
}

// separator is what stands between members that are inserted before the command of a TOML table.
func (e entry) separator() string {
	if e.between {
		return ", "
	}
	return "\n"
}

func quote(s string) string { return string(jsonstream.AppendQuote(nil, s)) }

// proved compares the servers of both texts, and takes the gate away again.
func (f File) proved(text, after []byte, changed []Server, g Gate) error {
	was, err := f.Servers(text)
	if err != nil {
		return err
	}
	is, err := f.Servers(after)
	if err != nil || len(is) != len(was) {
		return errors.New("put the gate before servers: the settings would not be read as before")
	}
	for i, s := range is {
		if slices.ContainsFunc(changed, func(c Server) bool { return c.Table == s.Table && c.Name == s.Name }) {
			at := slices.Index(s.Command, "--")
			if !s.Gated || s.Command[0] != g.Program || at < 0 || !slices.Equal(s.Command[at+1:], was[i].Command) {
				return fmt.Errorf("put the gate before servers: the settings of %q would not start it as before", s.Name)
			}
			continue
		}
		if s.Name != was[i].Name || !slices.Equal(s.Command, was[i].Command) || s.URL != was[i].URL {
			return fmt.Errorf("put the gate before servers: the settings of %q would change too", s.Name)
		}
	}
	back, err := f.Remove(after, changed)
	if err != nil {
		return err
	}
	if !bytes.Equal(back, text) {
		return errors.New("put the gate before servers: the change could not be taken back byte for byte")
	}
	return nil
}

// Remove takes the gate away from those of the servers that still have it. All other bytes stay.
func (f File) Remove(text []byte, of []Server) ([]byte, error) {
	entries, err := f.scan(text)
	if err != nil {
		return nil, err
	}
	var edits []jsonstream.Edit
	for _, e := range entries {
		if e.Gated && slices.ContainsFunc(of, func(s Server) bool { return s.Table == e.Table && s.Name == e.Name }) {
			edits = append(edits, f.unwrap(text, e)...)
		}
	}
	slices.SortFunc(edits, func(a, b jsonstream.Edit) int { return a.Start - b.Start })
	after, err := jsonstream.Splice(nil, text, edits)
	if err != nil {
		return nil, fmt.Errorf("take the gate away from servers: %w", err)
	}
	return after, nil
}

// unwrap returns the edits that take the gate away from one server; none if its arguments are not those of
// Insert.
func (f File) unwrap(text []byte, e entry) []jsonstream.Edit {
	list := e.list
	if f.words {
		list = list[1:]
	}
	n := 1 // words after "mcp" up to "--"
	if len(list) > 2 && list[1].text == "--name" {
		n = 3
	}
	if len(list) <= n+1 || list[0].text != "mcp" || list[n].text != "--" {
		return nil
	}
	first, rest := list[n+1], list[n+2:]
	if f.words {
		return []jsonstream.Edit{{Start: e.list[0].start, End: e.cut(text, list[n].end, list[n+1:])}}
	}
	command := jsonstream.Edit{Start: e.command.start, End: e.command.end, Text: slices.Clone(text[first.start:first.end])}
	if own := e.added(text, f.toml); own.end > 0 && len(rest) == 0 {
		return []jsonstream.Edit{command, {Start: own.start, End: own.end}}
	}
	return []jsonstream.Edit{command, {Start: list[0].start, End: e.cut(text, first.end, rest)}}
}

// cut returns the end of a removal that begins with the first element: with the comma before the elements that stay.
func (e entry) cut(text []byte, end int, rest []word) int {
	switch {
	case len(rest) == 0:
		return end
	case bytes.HasPrefix(text[end:], []byte(", ")):
		return end + 2
	}
	return rest[0].start // the layout was changed since
}

// added returns the member `args` if Insert has added it: its array begins with a space.
func (e entry) added(text []byte, toml bool) span {
	if !bytes.HasPrefix(text[e.args.start:], []byte(`[ "mcp", `)) {
		return span{}
	}
	switch before := text[e.command.end:max(e.command.end, e.args.start)]; {
	case !toml && string(before) == `, "args": `:
		return span{e.command.end, e.args.end}
	case toml && e.argsKey < e.key && string(text[e.args.end:e.key]) == e.separator():
		return span{e.argsKey, e.key}
	}
	return span{}
}
