package tables

import (
	_ "embed"

	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Agent is the table [agent].
type Agent struct {
	Model        string `toml:"model"`
	API          string `toml:"api"`
	BaseURL      string `toml:"base_url"`
	KeyEnv       string `toml:"key_env"`
	Style        string `toml:"style"`
	Instructions string `toml:"instructions"`
}

// ReadAgent reads the table [agent].
func ReadAgent(table *tomltree.Value) (Agent, diag.List) {
	var t Agent
	r := tomltree.Read(table, &t)
	r.OneOf("api", t.API, provider.APIs()...)
	r.OneOf("style", t.Style, "call", "json")
	return t, r.Mistakes
}
