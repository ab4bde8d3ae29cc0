package policy

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Externals lists the external policies of all files. Only an operator's file can name one.
func (p *Program) Externals() (all []*syntax.External) {
	for _, l := range p.Layers() {
		all = append(all, l.File.Externals...)
	}
	return all
}

// ExternalTables lists the external policies of all files as the gate uses them.
func (p *Program) ExternalTables() (all []*gate.ExternalTable) {
	for _, l := range p.Layers() {
		for _, e := range l.File.Externals {
			t := ExternalTable(e)
			t.Tightens = !l.Trusted
			all = append(all, t)
		}
	}
	return all
}

// ExternalTable returns a table [[external]] in the form that external policies are made from.
func ExternalTable(e *syntax.External) *gate.ExternalTable {
	return &gate.ExternalTable{
		Name: e.Name, URL: e.URL, TokenEnv: e.TokenEnv, TokenFile: e.TokenFile, Timeout: e.Timeout, Hooks: slices.Clone(e.Hooks), OnError: e.OnError,
		Source: fmt.Sprintf("%s:%d", e.File, e.Pos.Start.Line), Tools: slices.Clone(e.Tools), Governs: e.Governs, Meaning: e.Meaning(),
	}
}

// GovernedBy lists the names of the external policies that decide about calls of a tool, under any
// of its names.
func (p *Program) GovernedBy(tool stopgate.ToolName) (names []string) {
	name := tool
	if known, ok := p.ToolNames()[tool]; ok {
		name = known
	}
	for _, e := range p.Externals() {
		if e.Calls() && (e.Governs(tool) || e.Governs(name)) {
			names = append(names, e.Name)
		}
	}
	return names
}
