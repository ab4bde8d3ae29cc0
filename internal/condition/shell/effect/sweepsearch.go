package effect

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Search programs: which of their words are directories, and which files they leave out.

// takes reports whether the value of an option is the next word.
func takes(option []byte, values string) bool {
	if name, long := bytes.CutPrefix(option, []byte("--")); long {
		return programs.LongValues.Has(string(name)) && (values != programs.GrepValues || string(name) != "color")
	}
	for i, c := range option[1:] {
		if strings.IndexByte(values, c) >= 0 {
			return i == len(option)-2
		}
	}
	return false
}

// search yields, limited to files of some names, the operands after the pattern, or all if an
// option gives the pattern; the current directory if there are none and the input is not searched.
func (s *sweeper) search(values string, hidden, input bool, names []string) bool {
	c := s.command
	skip := !s.cluster("ef", strings.Trim(values, "ef")) && !s.long("regexp", "file", "match")
	found, only := false, false
	for i := 1; i < len(c.Words); i++ {
		w := &c.Words[i]
		switch {
		case len(w.Text) == 0 && !skip:
			continue
		case !only && string(w.Text) == "--":
			only = true
		case !only && len(w.Text) > 1 && w.Text[0] == '-':
			if takes(w.Text, values) {
				i++
			}
		case skip:
			skip = false
		default:
			found = true
			if !s.yield((&Sweep{Dir: *w, Hidden: hidden, Moved: c.Moved}).named(names)) {
				return false
			}
		}
	}
	return found || input || s.yield((&Sweep{Hidden: hidden, Moved: c.Moved}).named(names))
}

// followsLinks reports whether a search reads the directories that links lead to, anywhere.
func (s *sweeper) followsLinks(name string) bool {
	return s.long("follow") || name == "rg" && s.cluster("L", "efmABCEgjMrTtd") || name == "ag" && s.cluster("f", "GABCm")
}

// searchesHidden reports whether a search includes hidden files: because of an option, or because a
// glob names files.
func (s *sweeper) searchesHidden(name string) bool {
	if name != "rg" && name != "ag" {
		return true
	}
	if name == "rg" && (s.cluster("t", "efmABCEgjMrTd") || s.long("type")) {
		return true // see globbed
	}
	if s.long("hidden", "glob", "iglob", "unrestricted", "all-types", "search-binary", "file-search-regex", "no-ignore") {
		return true
	}
	return s.cluster(".ug", "efmABCtTjErM") || name == "ag" && s.cluster("aUuGt", "")
}

// any reports whether the command has one of some options.
func (s *sweeper) any(list []programs.Options) bool {
	for i := range list {
		o := &list[i]
		if s.cluster(o.Letters, o.Values) || s.long(o.Long...) || s.has(o.Whole...) || o.Bundle != "" && s.bundle(o.Bundle) || o.At && s.atFile() {
			return true
		}
	}
	return false
}

// atFile reports whether a word names a list of files after @.
func (s *sweeper) atFile() bool {
	for _, w := range s.command.Words[1:] {
		if len(w.Text) > 1 && w.Text[0] == '@' {
			return true
		}
	}
	return false
}
