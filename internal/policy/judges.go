package policy

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Judges lists the judges that the operator's files ask for, one for each file that
// has a table [judge]. A call that several of them govern needs all of them.
func (p *Program) Judges() []*syntax.Judge {
	var all []*syntax.Judge
	for _, l := range p.Layers() {
		if j := l.File.Judge; j != nil && l.Trusted {
			all = append(all, j)
		}
	}
	return all
}

// Judged reports whether a judge reviews calls of a tool, under any of its names.
func (p *Program) Judged(tool stopgate.ToolName) bool {
	name := tool
	if known, ok := p.ToolNames()[tool]; ok {
		name = known
	}
	return slices.ContainsFunc(p.Judges(), func(j *syntax.Judge) bool { return j.Governs(tool) || j.Governs(name) })
}
