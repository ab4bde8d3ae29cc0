package hook

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// The members that a search gets: what its parameters name together, as paths that are
// taken literally, and as patterns that say what they aim at.
const (
	searchPaths = "search_paths"
	searchGlobs = "search_globs"
)

// maxSearch is how many paths a call may name together; one with more is refused.
const maxSearch = 256

// usualFolders and usualFiles are the names under which tools that no table knows have a
// directory, and files that may be meant to lie in it.
var (
	usualFolders = strings.Fields("path directory dir folder root base_path basePath cwd workdir")
	usualFiles   = strings.Fields("filename file file_name fileName relative_path relativePath")
)

// search finds what the parameters of a call name together (THREATS C3, K0c): a search in
// "conf" for "secret/*" looks at conf/secret/*, which neither of the two is.
type search struct {
	folders, globs, filters []string // names of parameters
}

// of reads the contract of a tool. It reports false where there is nothing to find.
func (s *search) of(t contract) bool {
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

// withTargets adds what a search looks at to the arguments, so that guards see it. ok is
// false where that cannot be said; the arguments are nil where nothing is to be added.
func (t contract) withTargets(args []byte) (more []byte, ok bool) {
	var s search
	if !s.of(t) {
		return nil, true
	}
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return nil, true // the gate says what is wrong with them
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
	if globs := aimed(paths); len(globs) > 0 {
		more = appendList(append(more, ','), searchGlobs, globs)
	}
	return append(more, args[end-1:]...), true
}

// targets lists what the parameters name together, braces written out. Of a tool that no
// table knows only what lies in a directory that it is given counts.
// ok is false if they are too many.
func (s *search) targets(root value, unknown bool) (paths []string, ok bool) {
	folders, globs, filters := values(root, s.folders), values(root, s.globs), values(root, s.filters)
	if len(folders) == 0 && !unknown {
		folders = []string{""} // where the session works
	}
	ok = true
	add := func(text string) {
		words, few := braces(text)
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
			add(below(in, g))
		}
		for _, f := range filters {
			for _, f := range pieces(f) {
				add(below(in, strings.TrimPrefix(f, "/")))
				if !strings.HasPrefix(f, "/") && !strings.HasPrefix(f, "**/") {
					add(below(in, "**/"+f)) // as ignore files have it, at any depth
				}
				add(f) // begins where the session works, in some versions
			}
		}
	}
	return paths, ok
}

// values are the texts of parameters, those of lists among them. What is no text is left
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

// below is a name as it is read from a directory. Nothing is cleaned: what ".." leads to
// is the gate's to say.
func below(in, name string) string {
	if in == "" || path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return strings.TrimSuffix(in, "/") + "/" + name
}

// pieces are the patterns of a filter: hosts take several, separated by blanks or commas,
// and what "!" leaves out shows nothing.
func pieces(filter string) (list []string) {
	add := func(word string) {
		if word != "" && word[0] != '!' && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	add(filter)
	for word := range strings.FieldsSeq(filter) {
		add(word)
		depth := 0
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { // not in braces
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

// braces writes out the braces of a pattern, and sets of one character. few is false if
// there are too many.
func braces(pattern string) (words []string, few bool) {
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

// aimed are the paths with wildcards that say what they aim at, for guards to see what
// they may stand for: "conf/s*/key" and ".e*" do, "*.go" might be a secret's name, but
// nobody who writes it means that. A "**" is any depth, so what is behind it is looked at
// where the search begins.
func aimed(paths []string) (list []string) {
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

// sent are the arguments as the host sent them.
func (e *Event) sent() []byte {
	if e.Sent != nil {
		return e.Sent
	}
	return e.Call.Args
}

// theirs are arguments that may run without what was added to them.
func (e *Event) theirs(args []byte) ([]byte, error) {
	if e.Sent == nil {
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
