package hook

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/hook/search"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// Members that are added to the arguments of a search: the combined targets of its
// parameters, as literal paths and as patterns.
const (
	searchPaths = "search_paths"
	searchGlobs = "search_globs"
)

// usualFolders and usualFiles are common parameter names for a directory, and for files
// that may be relative to it, in tools that no table contains.
var (
	usualFolders = strings.Fields("path directory dir folder root base_path basePath cwd workdir")
	usualFiles   = strings.Fields("filename file file_name fileName relative_path relativePath")
)

// search returns the parameters of a search. ok is false if the tool has none.
func (t contract) search() (s search.Search, ok bool) {
	if t.unknown() {
		return search.Search{Folders: usualFolders, Globs: usualFiles}, true
	}
	for _, p := range t.Parameters {
		switch p.Kind {
		case knowntools.Folder:
			s.Folders = append(s.Folders, p.Name)
		case knowntools.Glob:
			s.Globs = append(s.Globs, p.Name)
		case knowntools.Filter:
			s.Filters = append(s.Filters, p.Name)
		}
	}
	return s, len(s.Globs)+len(s.Filters) > 0
}

// withTargets adds the targets of a search to the arguments, so that guards apply to them.
// It returns nil if there is nothing to add. ok is false if the targets cannot be
// determined.
func (t contract) withTargets(args []byte) (more []byte, ok bool) {
	s, searches := t.search()
	if !searches {
		return nil, true
	}
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return nil, true // the gate reports invalid arguments
	}
	paths, ok := s.Targets(root, t.unknown())
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
	if globs := search.Specific(paths); len(globs) > 0 {
		more = appendList(append(more, ','), searchGlobs, globs)
	}
	return append(more, args[end-1:]...), true
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
