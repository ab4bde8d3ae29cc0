package policy

import (
	"path"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Access returns the files that a tool may touch, nil without a limit: those that every file
// permits (K35). In one file the most specific table with `access` counts.
func (p *Program) Access(tool stopgate.ToolName) *stopgate.Access {
	var all *stopgate.Access
	for _, l := range p.Layers() {
		if !limitsAccess(l.File) {
			continue
		}
		for _, t := range l.File.TablesFor(string(tool)) {
			if t.Access != nil {
				all = all.And(&stopgate.Access{Read: resolved(t.Access.Read, l.Env), Write: resolved(t.Access.Write, l.Env)})
				break
			}
		}
	}
	if all != nil && all.Read == nil && all.Write == nil {
		return nil
	}
	return all
}

// limitsAccess reports whether any table of a file has `access`.
func limitsAccess(f *syntax.File) bool {
	for _, t := range f.Tools {
		if t.Access != nil {
			return true
		}
	}
	return false
}

// resolved returns paths of a file as absolute ones, as far as the directories are known.
func resolved(list []string, env condition.Env) []string {
	if list == nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, text := range list {
		switch rest, home := strings.CutPrefix(text+"/", "~/"); {
		case path.IsAbs(text):
			text = path.Clean(text)
		case home && env.Home != "":
			text = path.Join(env.Home, rest)
		case home:
			text = strings.TrimSuffix(text, "/")
		case env.Root != "":
			text = path.Join(env.Root, text)
		default:
			text = path.Clean(text)
		}
		out = append(out, text)
	}
	return out
}
