package main

import (
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// agentConfig reads the table [agent].
func agentConfig(table *tomltree.Value) (agentTable, diag.List) {
	var t agentTable
	r := tomltree.Read(table, &t)
	r.OneOf("api", t.API, provider.APIs()...)
	r.OneOf("style", t.Style, "call", "json")
	return t, r.Mistakes
}
