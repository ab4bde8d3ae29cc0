package servers

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/host/jsonc"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// span is a part of a text.
type span struct{ start, end int }

// word is a string of the settings with its position, quotes included.
type word struct {
	span
	text string
}

// entry is a server with the positions that edits need.
type entry struct {
	Server
	command word // of which words is empty if it is an array
	key     int  // start of the key `command`
	between bool // the members are on a line: an inline table
	args    span // with brackets; empty for none
	argsKey int
	list    []word // the elements of args, or of command
	header  bool   // a TOML table with a header, or dotted keys
}

// Servers returns the servers of a file, in its order.
func (f File) Servers(text []byte) ([]Server, error) {
	entries, err := f.scan(text)
	if err != nil {
		return nil, err
	}
	list := make([]Server, len(entries))
	for i, e := range entries {
		list[i] = e.Server
	}
	return list, nil
}

// scan finds the servers.
func (f File) scan(text []byte) (entries []entry, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	if f.toml {
		entries, err = f.scanTOML(text)
	} else {
		entries, err = f.scanJSON(text)
	}
	for i := range entries {
		entries[i].finish(f.words)
	}
	return entries, err
}

// finish derives the command, and whether the gate is before it, from the positions.
func (e *entry) finish(words bool) {
	for _, w := range e.list {
		e.Command = append(e.Command, w.text)
	}
	if !words && e.command.end > 0 {
		e.Command = slices.Insert(e.Command, 0, e.command.text)
	}
	switch {
	case e.Problem != "":
	case len(e.Command) == 0 && e.URL != "":
		e.Problem = "it has an address: its agent signs in there, which stopgate mcp cannot"
	case len(e.Command) == 0:
		e.Problem = "it has no command"
	case len(e.Command) > 1 && isGate(e.Command[0]) && e.Command[1] == "mcp":
		e.Gated = true
	}
}

// isGate reports whether a program is this one, by its name.
func isGate(program string) bool {
	name := filepath.Base(strings.ReplaceAll(program, `\`, "/"))
	return name == "stopgate" || name == "stopgate.exe"
}

func (f File) scanJSON(text []byte) ([]entry, error) {
	plain := text
	if f.comments {
		plain = jsonc.Plain(text)
	}
	root, err := jsonstream.Parse(plain, jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	var entries []entry
	for _, path := range f.tables {
		table, ok := root, true
		for _, name := range path {
			if table, ok = table.Get(name); !ok {
				break
			}
		}
		if !ok {
			continue
		}
		for key, v := range table.Members() {
			e := entry{Server: Server{Table: strings.Join(path, "\x00"), Name: key.Text()}}
			for _, name := range []string{"url", "httpUrl", "serverUrl"} {
				if u, ok := v.Get(name); ok && e.URL == "" {
					e.URL = u.Text()
				}
			}
			command, _ := v.Get("command")
			args, hasArgs := v.Get("args")
			list := args
			switch {
			case v.Kind() != jsonstream.Object:
				e.Problem = "it is no table"
			case f.words && command.Kind() == jsonstream.Array:
				list = command
			case !f.words && command.Kind() == jsonstream.String && (!hasArgs || args.Kind() == jsonstream.Array):
				start, end := command.Span()
				e.command = word{span{start, end}, command.Text()}
			case command.IsValid():
				e.Problem = "its command has an unusual form"
			}
			if e.Problem == "" && list.IsValid() {
				e.args.start, e.args.end = list.Span()
				for w := range list.Elements() {
					start, end := w.Span()
					e.list = append(e.list, word{span{start, end}, w.Text()})
					if w.Kind() != jsonstream.String {
						e.Problem = "its arguments are not all texts"
					}
				}
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}

func (f File) scanTOML(text []byte) ([]entry, error) {
	doc, found := tomltree.Parse(f.Path, text)
	if found.HasErrors() {
		return nil, errors.New("read the settings: " + found.Errors()[0].Message)
	}
	top := doc.Root.Get(f.tables[0][0])
	if top == nil {
		return nil, nil
	}
	var entries []entry
	for _, s := range top.Value.Entries {
		e := entry{Server: Server{Table: f.tables[0][0], Name: s.Key}}
		command, args, url := s.Value.Get("command"), s.Value.Get("args"), s.Value.Get("url")
		if url != nil {
			e.URL = url.Value.Text
		}
		switch {
		case s.Value.Kind != tomltree.Table:
			e.Problem = "it is no table"
		case command == nil:
		case command.Value.Kind != tomltree.String || args != nil && args.Value.Kind != tomltree.Array:
			e.Problem = "its command has an unusual form"
		default:
			at := command.Value.Range
			e.command, e.key = word{span{at.Start.Offset, at.End.Offset}, command.Value.Text}, command.KeyRange.Start.Offset
			e.between, e.header = s.Value.Inline, !s.Value.Inline
			if args == nil {
				break
			}
			e.args, e.argsKey = span{args.Value.Range.Start.Offset, args.Value.Range.End.Offset}, args.KeyRange.Start.Offset
			for _, w := range args.Value.Elements {
				e.list = append(e.list, word{span{w.Range.Start.Offset, w.Range.End.Offset}, w.Text})
				if w.Kind != tomltree.String {
					e.Problem = "its arguments are not all texts"
				}
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}
