package hook

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// Members that are added to the arguments of a search: the combined targets of its
// parameters, as literal paths and as patterns.
const (
	searchPaths = "search_paths"
	searchGlobs = "search_globs"
)

// maxSearch is the maximum number of targets; calls with more are refused.
const maxSearch = 256

// usualFolders and usualFiles are common parameter names for a directory, and for files
// that may be relative to it, in tools that no table contains.
var (
	usualFolders = strings.Fields("path directory dir folder root base_path basePath cwd workdir")
	usualFiles   = strings.Fields("filename file file_name fileName relative_path relativePath")
)

// search computes the targets of a search from several parameters (C3, K0c): a search in
// "conf" for "secret/*" reads conf/secret/*, which neither parameter contains.
type search struct {
	folders, globs, filters []string // names of parameters
}

// load reads the parameters of a tool. It returns false if the tool has no such parameters.
func (s *search) load(t contract) bool {
	if t.unknown() {
		s.folders, s.globs = usualFolders, usualFiles
		return true
	}
	for _, p := range t.Parameters {
		switch p.Kind {
		case knowntools.Folder:
			s.folders = append(s.folders, p.Name)
		case knowntools.Glob:
			s.globs = append(s.globs, p.Name)
		case knowntools.Filter:
			s.filters = append(s.filters, p.Name)
		}
	}
	return len(s.globs)+len(s.filters) > 0
}

// withTargets adds the targets of a search to the arguments, so that guards apply to them.
// It returns nil if there is nothing to add. ok is false if the targets cannot be
// determined.
func (t contract) withTargets(args []byte) (more []byte, ok bool) {
	var s search
	if !s.load(t) {
		return nil, true
	}
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return nil, true // the gate reports invalid arguments
	}
	paths, ok := s.targets(root, t.unknown())
	if !ok || len(paths) == 0 {
		return nil, ok
	}
	for _, taken := range []string{searchPaths, searchGlobs} {
		if _, ok := root.Get(taken); ok {
			return nil, false
		}
	}
	_, end := root.Span()
	more = slices.Clone(args[:end-1])
	if root.Len() > 0 {
		more = append(more, ',')
	}
	more = appendList(more, searchPaths, paths)
	if globs := specificGlobs(paths); len(globs) > 0 {
		more = appendList(append(more, ','), searchGlobs, globs)
	}
	return append(more, args[end-1:]...), true
}

// targets returns the combined targets with braces expanded. For a tool that no table
// contains, only targets below a given directory are returned. ok is false if there are too
// many.
func (s *search) targets(root value, unknown bool) (paths []string, ok bool) {
	folders, globs, filters := values(root, s.folders), values(root, s.globs), values(root, s.filters)
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
func values(root value, names []string) (list []string) {
	add := func(v value) {
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

// specificGlobs returns the patterns that a guard can evaluate by the files they can match:
// "conf/s*/key" and ".e*", but not "*.go", which could match a secret's name only by
// accident. "**" matches any depth, so the part after it is evaluated at the start of the
// search.
func specificGlobs(paths []string) (list []string) {
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

func appendList(dst []byte, name string, texts []string) []byte {
	dst = append(jsonstream.AppendQuote(dst, name), ':', '[')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonstream.AppendQuote(dst, t)
	}
	return append(dst, ']')
}

// sentArgs returns the arguments as the host sent them.
func (e *Event) sentArgs() []byte {
	if e.SentArgs != nil {
		return e.SentArgs
	}
	return e.Call.Args
}

// removeAdded returns the arguments without the members that withTargets added.
func (e *Event) removeAdded(args []byte) ([]byte, error) {
	if e.SentArgs == nil {
		return args, nil
	}
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return nil, err
	}
	return jsonstream.Splice(nil, args, root.AppendRemovals(nil, func(key, _ value) bool {
		return key.IsText(searchPaths) || key.IsText(searchGlobs)
	}))
}
