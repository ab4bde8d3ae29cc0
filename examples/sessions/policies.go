package main

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// review is the policy "an approval before a merge", for each pull request by itself.
type review struct{}

func (review) Name() string            { return "review_before_merge" }
func (review) Tools() session.Selector { return session.Select("approve_pr", "merge_pr") }

func (p review) Needs(c session.Call) []session.Key {
	id, _ := c.Argument("pr_id")
	return []session.Key{session.NoteKey(p.Name(), id)}
}

func (p review) Check(v session.View, c session.Call) session.Decision {
	if c.Tool != "merge_pr" {
		return session.Allow()
	}
	id, ok := c.Argument("pr_id")
	if !ok {
		return session.Deny(stopgate.CodeKeyUnavailable, "Name the pull request in pr_id.")
	}
	if _, approved := v.Note(p.Name(), id); !approved {
		return session.Deny("review_missing", "Have this pull request approved first, with approve_pr.")
	}
	return session.Allow()
}

func (p review) OnResult(_ session.View, r session.Result) []session.Fact {
	id, ok := r.Call.Argument("pr_id")
	if r.Call.Tool != "approve_pr" || r.Kind != session.Succeeded || !ok {
		return nil
	}
	return []session.Fact{session.Note(p.Name(), id, "approved")}
}

// sequence is the policy "these tools first": a tool, and those that must have succeeded
// before it.
type sequence map[string][]string

func (sequence) Name() string { return "sequence" }

func (p sequence) Tools() session.Selector {
	var tools []string
	for tool, before := range p {
		tools = append(append(tools, tool), before...)
	}
	return session.Select(tools...)
}

func (p sequence) Needs(c session.Call) (keys []session.Key) {
	for _, tool := range p[string(c.Tool)] {
		keys = append(keys, session.NoteKey(p.Name(), tool))
	}
	return keys
}

func (p sequence) Check(v session.View, c session.Call) session.Decision {
	var missing []string
	for _, tool := range p[string(c.Tool)] {
		if _, succeeded := v.Note(p.Name(), tool); !succeeded {
			missing = append(missing, tool)
		}
	}
	if len(missing) == 0 {
		return session.Allow()
	}
	slices.Sort(missing)
	d := session.Deny(stopgate.CodePrerequisiteMissing, "Call "+strings.Join(missing, " and ")+" first.")
	d.Missing = missing
	d.Meta = map[string]string{"tool": string(c.Tool), "missing": strings.Join(missing, ",")}
	return d
}

func (p sequence) OnResult(_ session.View, r session.Result) []session.Fact {
	if r.Kind != session.Succeeded {
		return nil
	}
	return []session.Fact{session.Note(p.Name(), string(r.Call.Tool), "")}
}

// NeedsArguments reports false: a call is decided as soon as its tool is known.
func (sequence) NeedsArguments() bool { return false }

// readFirst is the policy "read a file before you write it".
type readFirst struct{ readers, writers []string }

func (readFirst) Name() string { return "read_first" }

func (p readFirst) Tools() session.Selector {
	return session.Select(slices.Concat(p.readers, p.writers)...)
}

// path returns the file of a call under one of its usual names.
func path(c session.Call) (string, bool) {
	for _, name := range []string{"path", "file_path", "filepath"} {
		if file, ok := c.Argument(name); ok {
			return file, true
		}
	}
	return "", false
}

func (p readFirst) Needs(c session.Call) []session.Key {
	file, _ := path(c)
	return []session.Key{session.NoteKey(p.Name(), file)}
}

func (p readFirst) Check(v session.View, c session.Call) session.Decision {
	if !slices.Contains(p.writers, string(c.Tool)) {
		return session.Allow()
	}
	file, ok := path(c)
	if !ok {
		return session.Deny(stopgate.CodeKeyUnavailable, "Name the file in path.")
	}
	if _, read := v.Note(p.Name(), file); !read {
		return session.Deny(stopgate.CodeReadRequired, "Read this file first, with "+strings.Join(p.readers, " or ")+".")
	}
	return session.Allow()
}

func (p readFirst) OnResult(_ session.View, r session.Result) []session.Fact {
	file, ok := path(r.Call)
	if !slices.Contains(p.readers, string(r.Call.Tool)) || r.Kind != session.Succeeded || !ok {
		return nil
	}
	return []session.Fact{session.Note(p.Name(), file, "read")}
}
