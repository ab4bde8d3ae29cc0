package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/jsonstream"
)

// define returns a tool. Parameters that rules depend on come before long ones, so that a
// call can be decided early (D26-29).
func define(name, description, schema string, run func(*view, context.Context, jsonstream.Value) (agent.Result, error), preview func(*view, jsonstream.Value) (string, error)) tool {
	return tool{
		definition: stopgate.ToolDefinition{Name: stopgate.ToolName(name), Description: description, Schema: []byte(schema), EmptyMeansNone: true},
		run:        run, preview: preview,
	}
}

// files returns the file tools.
func (s *Set) files() []tool {
	return []tool{
		define("fs_read_file", "Read a text file of the working tree. With start_line and end_line, only these lines, counted from 1.",
			`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"start_line":{"type":"integer","minimum":1},"end_line":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`,
			(*view).readFile, nil),
		define("fs_list_files", "List the files below a directory of the working tree, the whole tree by default. Directories end with a slash.",
			`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"depth":{"type":"integer","minimum":1,"description":"how many levels; 3 by default"}},"additionalProperties":false}`,
			(*view).listFiles, nil),
		define("fs_grep", "Search the files below a directory for a regular expression (RE2). Prints path:line: text.",
			`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"pattern":{"type":"string"},"ignore_case":{"type":"boolean"}},"required":["pattern"],"additionalProperties":false}`,
			(*view).grep, nil),
		define("fs_create_file", "Create a text file, and the directories it needs. An existing file is only written over with replace.",
			`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"replace":{"type":"boolean"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`,
			(*view).createFile, (*view).previewCreate),
		define("fs_modify_file", "Change text files: each pattern replaces one text, which must occur exactly once, by another one. A pattern changes the file at path, or those in its own paths. All of the patterns apply, or none.",
			`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"patterns":{"type":"array","minItems":1,"items":{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},"old":{"type":"string","minLength":1},"new":{"type":"string"}},"required":["old","new"],"additionalProperties":false}}},"required":["path","patterns"],"additionalProperties":false}`,
			(*view).modifyFile, (*view).previewModify),
		define("fs_move_file", "Move or rename a file within the working tree. Nothing is written over.",
			`{"type":"object","properties":{"source":{"type":"string","x-stopgate-type":"path"},"destination":{"type":"string","x-stopgate-type":"path"}},"required":["source","destination"],"additionalProperties":false}`,
			(*view).moveFile, nil),
		define("fs_delete_file", "Delete a file, or an empty directory.",
			`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"}},"required":["path"],"additionalProperties":false}`,
			(*view).deleteFile, (*view).previewDelete),
	}
}

func (s *view) readFile(_ context.Context, args jsonstream.Value) (agent.Result, error) {
	path, err := text(args, "path", true)
	if err != nil {
		return agent.Result{}, err
	}
	first, err := whole(args, "start_line")
	if err != nil {
		return agent.Result{}, err
	}
	last, err := whole(args, "end_line")
	if err != nil {
		return agent.Result{}, err
	}
	_, content, err := s.load(path, reads)
	if err != nil {
		return agent.Result{}, err
	}
	if strings.ContainsRune(content[:min(len(content), 8000)], 0) {
		return agent.Result{Text: fmt.Sprintf("%s is a binary file of %d bytes", path, len(content))}, nil
	}
	if first == 0 && last == 0 {
		return agent.Result{Text: content}, nil
	}
	lines := strings.SplitAfter(content, "\n")
	first, last = max(first, 1), min(max(last, 0), len(lines))
	if last == 0 {
		last = len(lines)
	}
	if first > last {
		return agent.Result{}, fmt.Errorf("%s has %d lines", path, len(lines))
	}
	return agent.Result{Text: strings.Join(lines[first-1:last], "")}, nil
}

// creation reads the arguments of fs_create_file.
func (s *view) creation(args jsonstream.Value) (name, before, content string, err error) {
	path, err := text(args, "path", true)
	if err != nil {
		return "", "", "", err
	}
	if content, err = text(args, "content", true); err != nil {
		return "", "", "", err
	}
	replace, _ := args.Get("replace")
	name, before, err = s.load(path, writes)
	switch {
	case err == nil && replace.Kind() != jsonstream.True:
		return "", "", "", fmt.Errorf("%s exists: change it with fs_modify_file, or say replace", path)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	return name, before, content, err
}

func (s *view) createFile(_ context.Context, args jsonstream.Value) (agent.Result, error) {
	name, _, content, err := s.creation(args)
	if err != nil {
		return agent.Result{}, err
	}
	if err := s.save(name, content); err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: fmt.Sprintf("wrote %d bytes to %s", len(content), name)}, nil
}

func (s *view) previewCreate(args jsonstream.Value) (string, error) {
	name, before, content, err := s.creation(args)
	if err != nil || before == "" {
		return "", err // for a new file the arguments show everything
	}
	return textdiff.Unified(name, before, content), nil
}

// change is a modified file, with its text before and after.
type change struct{ name, before, after string }

// modification computes the changes of fs_modify_file.
func (s *view) modification(args jsonstream.Value) ([]*change, error) {
	path, err := text(args, "path", true)
	if err != nil {
		return nil, err
	}
	patterns, _ := args.Get("patterns")
	if patterns.Kind() != jsonstream.Array || patterns.Len() == 0 {
		return nil, errors.New("patterns is no list of replacements")
	}
	var list []*change
	number := 0
	for p := range patterns.Elements() {
		number++
		old, err := text(p, "old", true)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", number, err)
		}
		fresh, err := text(p, "new", true)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", number, err)
		}
		targets := []string{path}
		if own, ok := p.Get("paths"); ok && own.Len() > 0 {
			targets = nil
			for target := range own.Elements() {
				targets = append(targets, target.Text())
			}
		}
		for _, target := range targets {
			c, err := s.changeOf(&list, target)
			if err != nil {
				return nil, err
			}
			if n := strings.Count(c.after, old); n != 1 || old == "" {
				return nil, fmt.Errorf("pattern %d: the old text occurs %d times in %s, it must occur once; nothing was changed", number, n, c.name)
			}
			c.after = strings.Replace(c.after, old, fresh, 1)
		}
	}
	return list, nil
}

func (s *view) changeOf(list *[]*change, path string) (*change, error) {
	name, content, err := s.load(path, reads|writes)
	if err != nil {
		return nil, err
	}
	for _, c := range *list {
		if c.name == name {
			return c, nil
		}
	}
	c := &change{name, content, content}
	*list = append(*list, c)
	return c, nil
}

func (s *view) modifyFile(_ context.Context, args jsonstream.Value) (agent.Result, error) {
	list, err := s.modification(args)
	if err != nil {
		return agent.Result{}, err
	}
	var names []string
	for _, c := range list {
		if err := s.save(c.name, c.after); err != nil {
			if len(names) > 0 {
				err = fmt.Errorf("%w; changed already: %s", err, strings.Join(names, ", "))
			}
			return agent.Result{}, err
		}
		names = append(names, c.name)
	}
	return agent.Result{Text: "changed " + strings.Join(names, ", ")}, nil
}

func (s *view) previewModify(args jsonstream.Value) (string, error) {
	list, err := s.modification(args)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range list {
		b.WriteString(textdiff.Unified(c.name, c.before, c.after))
	}
	return b.String(), nil
}

func (s *view) moveFile(_ context.Context, args jsonstream.Value) (agent.Result, error) {
	source, err := text(args, "source", true)
	if err != nil {
		return agent.Result{}, err
	}
	destination, err := text(args, "destination", true)
	if err != nil {
		return agent.Result{}, err
	}
	from, err := s.name(source, reads|writes)
	if err != nil {
		return agent.Result{}, err
	}
	to, err := s.name(destination, writes)
	if err != nil {
		return agent.Result{}, err
	}
	if _, err := s.root.Lstat(from); err != nil {
		return agent.Result{}, plain(source, err)
	}
	if _, err := s.root.Lstat(to); err == nil {
		return agent.Result{}, fmt.Errorf("%s exists: nothing was moved", destination)
	}
	if err := s.rename(from, to); err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: fmt.Sprintf("moved %s to %s", from, to)}, nil
}

func (s *view) deleteFile(_ context.Context, args jsonstream.Value) (agent.Result, error) {
	path, err := text(args, "path", true)
	if err != nil {
		return agent.Result{}, err
	}
	name, err := s.name(path, writes)
	if err != nil {
		return agent.Result{}, err
	}
	if name == "." {
		return agent.Result{}, errors.New("the working tree itself is not deleted")
	}
	dir, err := s.directory(filepath.Dir(name), false)
	if err != nil {
		return agent.Result{}, plain(path, err)
	}
	defer dir.Close()
	if err := dir.Remove(filepath.Base(name)); err != nil {
		return agent.Result{}, plain(path, err)
	}
	return agent.Result{Text: "deleted " + name}, nil
}

// previewDelete shows the files that would be deleted.
func (s *view) previewDelete(args jsonstream.Value) (string, error) {
	path, err := text(args, "path", true)
	if err != nil {
		return "", err
	}
	name, content, err := s.load(path, writes)
	if err != nil {
		return "", err
	}
	return textdiff.Unified(name, content, ""), nil
}
