package policy

import (
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
)

// Program is one or several policy files, ready to judge calls. It is immutable
// and safe for concurrent use.
//
// Every file is a layer that is judged by itself; the strictest verdict wins
// (K35). A layer without a table for a tool abstains, and a tool for which every
// layer abstains is unknown (S2).
type Program struct {
	hash string
}

// Compile parses and checks policy files, the operator's before the project's,
// and prepares them. If any of them has an error the program is nil.
func Compile(sources []Source, o Options) (*Program, diag.List) {
	return &Program{}, nil
}

// Hash identifies what the policy says: 64 hexadecimal digits over the canonical
// form of all files, in order, and the version of the language's meaning. Comments,
// the order of tables and operational tables do not enter (S36).
func (p *Program) Hash() string { return p.hash }

// Settings are what the operator's files say beside rules.
type Settings struct {
	Gate GateSettings
	// Tables are the operational tables by name, the first file that has one.
	Tables map[string]*tomltree.Value
}

// Settings returns the settings of the operator's files. An untrusted file has none (S3).
func (p *Program) Settings() Settings { return Settings{} }
