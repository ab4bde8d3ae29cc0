// Package search computes what a search looks at from its parameters: a search in "conf" for
// "secret/*" reads conf/secret/*, which neither parameter contains (C3, K0c).
//
//	s := search.Search{Folders: []string{"path"}, Globs: []string{"pattern"}}
//	paths, ok := s.Targets(args, false) // of {"path":"conf","pattern":"s*/key"}: conf/s*/key
//	globs := search.Specific(paths)
//
// It reads no file.
package search

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Search has the names of a tool's parameters.
type Search struct {
	Folders, Globs, Filters []string
}

// maxSearch is the maximum number of targets; calls with more are refused.
const maxSearch = 256

// Targets returns the combined targets with braces expanded. For a tool that no table
// contains, only targets below a given directory are returned. ok is false if there are too
// many.
func (s *Search) Targets(root jsonstream.Value, unknown bool) (paths []string, ok bool) {
	folders, globs, filters := values(root, s.Folders), values(root, s.Globs), values(root, s.Filters)
	if len(folders) == 0 && !unknown {
		folders = []string{""} // the directory of the session
	}
	ok = true
	add := func(text string) {
		words, few := expandBraces(text)
		for _, word := range words {
			if word != "" && !slices.Contains(paths, word) {
				paths = append(paths, word)
			}
		}
		ok = ok && few && len(paths) <= maxSearch
		paths = paths[:min(len(paths), maxSearch)]
	}
	for _, in := range folders {
		for _, g := range globs {
			add(joinPath(in, g))
		}
		for _, f := range filters {
			for _, f := range filterPatterns(f) {
				add(joinPath(in, strings.TrimPrefix(f, "/")))
				if !strings.HasPrefix(f, "/") && !strings.HasPrefix(f, "**/") {
					add(joinPath(in, "**/"+f)) // at any depth, as in ignore files
				}
				add(f) // relative to the session's directory in some versions
			}
		}
	}
	return paths, ok
}

// values returns the texts of parameters, including those in arrays. Other values are left
// to the gate.
func values(root jsonstream.Value, names []string) (list []string) {
	add := func(v jsonstream.Value) {
		if text := v.Text(); v.Kind() == jsonstream.String && text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, n := range names {
		v, _ := root.Get(n)
		if v.Kind() != jsonstream.Array {
			add(v)
			continue
		}
		for item := range v.Elements() {
			add(item)
		}
	}
	return list
}

// joinPath joins a directory and a name without cleaning: the gate resolves "..".
func joinPath(in, name string) string {
	if in == "" || path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return strings.TrimSuffix(in, "/") + "/" + name
}

// filterPatterns returns the patterns of a filter, which hosts separate by blanks or
// commas. Patterns that start with "!" exclude files and are skipped.
func filterPatterns(filter string) (list []string) {
	add := func(word string) {
		if word != "" && word[0] != '!' && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	add(filter)
	for word := range strings.FieldsSeq(filter) {
		add(word)
		depth := 0
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { // not inside braces
			switch r {
			case '{':
				depth++
			case '}':
				depth--
			}
			return r == ',' && depth <= 0
		}) {
			add(part)
		}
	}
	return list
}

// expandBraces expands braces and one-character classes in a pattern. few is false if the
// result is too large.
func expandBraces(pattern string) (words []string, few bool) {
	words = []string{pattern}
	for i := 0; i < len(words); i++ {
		for w := words[i]; ; {
			open := strings.IndexByte(w, '[')
			if open < 0 || open+2 >= len(w) || w[open+2] != ']' {
				break
			}
			w = w[:open] + w[open+1:open+2] + w[open+3:]
			words[i] = w
		}
		for {
			w := words[i]
			end := strings.IndexByte(w, '}')
			if end < 0 {
				break
			}
			open := strings.LastIndexByte(w[:end], '{')
			if open < 0 || !strings.Contains(w[open:end], ",") {
				break
			}
			alternatives := strings.Split(w[open+1:end], ",")
			if len(words)+len(alternatives) > maxSearch {
				return nil, false
			}
			for _, a := range alternatives[1:] {
				words = append(words, w[:open]+a+w[end+1:])
			}
			words[i] = w[:open] + alternatives[0] + w[end+1:]
		}
	}
	return words, true
}

// Specific returns the patterns that a guard can evaluate by the files they can match:
// "conf/s*/key" and ".e*", but not "*.go", which could match a secret's name only by
// accident. "**" matches any depth, so the part after it is evaluated at the start of the
// search.
func Specific(paths []string) (list []string) {
	for _, p := range paths {
		var parts []string
		wild, deep, aims, dot := false, false, true, false
		for part := range strings.SplitSeq(p, "/") {
			if part == "**" {
				deep = true
				continue
			}
			parts = append(parts, part)
			at := strings.IndexAny(part, "*?[{(")
			wild = wild || at >= 0
			aims = aims && at != 0
			dot = dot || len(part) > 1 && part[0] == '.' && part != ".."
		}
		if g := strings.Join(parts, "/"); (wild || deep) && (aims || dot) && g != "" && !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}
