package protected

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// nameIndex finds the lines of the protected list that a path may match by the names in the path,
// so that the automata of other lines are not built.
type nameIndex struct {
	names    map[string][]int // lines by names of components
	prefixes []linePrefix     // and by prefixes of components
	always   []int            // lines with a name that is in the root itself
	begins   [256]uint64      // for each first byte, the lengths of names as bits
}

type linePrefix struct {
	text string
	line int
}

// longestName is the maximum length of indexed names.
const longestName = 64

func newNameIndex(lines []*protectedLine, root string) *nameIndex {
	n := &nameIndex{names: make(map[string][]int, len(lines))}
	for i, l := range lines {
		names := l.names
		if names == "" { // a file
			path := spelling.Fold(l.glob)
			if name := path[strings.LastIndexByte(path, '/')+1:]; name != "" && len(name) <= longestName {
				n.names[name] = append(n.names[name], i)
			} else {
				n.always = append(n.always, i)
			}
			continue
		}
		for name := range strings.SplitSeq(names, "|") {
			if prefix, ok := strings.CutSuffix(name, "*"); ok && prefix == "" {
				n.always = append(n.always, i)
			} else if ok {
				n.prefixes = append(n.prefixes, linePrefix{prefix, i})
			} else {
				n.names[name] = append(n.names[name], i)
			}
		}
	}
	for name := range n.names {
		if name != "" {
			n.begins[name[0]] |= 1 << min(len(name), 63)
		}
	}
	for _, p := range n.prefixes {
		n.begins[p.text[0]] |= ^uint64(0) << min(len(p.text), 63)
	}
	n.find([]byte(spelling.Fold(root)), func(line int) { n.always = append(n.always, line) })
	slices.Sort(n.always)
	n.always = slices.Compact(n.always)
	return n
}

// each calls f for the lines that a canonical path may match, possibly repeated. high is set if the
// path may have code points above ASCII.
func (n *nameIndex) each(canonical []byte, high bool, f func(line int)) {
	for _, line := range n.always {
		f(line)
	}
	n.find(canonical, f)
	if high {
		if folded := spelling.Fold(string(canonical)); folded != string(canonical) {
			n.find([]byte(folded), f)
		}
	}
}

// find calls f for the lines that have a name of a path, without regard to ASCII case.
func (n *nameIndex) find(path []byte, f func(line int)) {
	for from := 0; from < len(path); from++ { // after a separator
		end := from
		for end < len(path) && path[end] != '/' {
			end++
		}
		if end > from && n.begins[spelling.LowerASCII(path[from])]&(1<<min(end-from, 63)) != 0 {
			n.component(path[from:end], f)
		}
		from = end
	}
}

// component is find for one component.
func (n *nameIndex) component(name []byte, f func(line int)) {
	var buf [longestName]byte
	c := buf[:min(len(name), longestName)]
	for i := range c {
		c[i] = spelling.LowerASCII(name[i])
	}
	if len(name) <= longestName {
		for _, line := range n.names[string(c)] {
			f(line)
		}
	}
	for i := range n.prefixes {
		if p := n.prefixes[i].text; len(c) >= len(p) && string(c[:len(p)]) == p {
			f(n.prefixes[i].line)
		}
	}
}

// Named returns the paths without wildcards that the protected list names below a home or a project
// directory: files, and directories that it covers. Callers with access to the file system check
// them for links.
func Named() (names []string) {
	for _, list := range [][]protectedGlob{deniedPaths, askedPaths} {
		for i := range list {
			name, anywhere := strings.CutPrefix(list[i].glob, "**/")
			wild := strings.IndexAny(name, "*{")
			switch parent := strings.LastIndexByte(name[:max(wild, 0)], '/'); {
			case !anywhere:
			case wild < 0:
				names = append(names, name)
			case parent > 0:
				names = append(names, name[:parent])
			case strings.IndexByte(name, '/') < 0: // a file whose names are next to it
				names = slices.AppendSeq(names, strings.SplitSeq(list[i].names, "|"))
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return strings.HasSuffix(name, "*") })
}
