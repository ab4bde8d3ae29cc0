package tables

import (
	"slices"

	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/gateway/configure"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// Check reads the operational tables as up does; the environment of the
// machine that checks does not matter.
func Check(p *syntax.File) diag.List {
	from := secret.Anywhere()
	_, found := configure.Read(policy.Settings{Gate: p.Gate, Tables: p.Tables}, from)
	_, api := ReadAPI(p.Tables, from)
	_, mcp := ReadMCP(p.Tables, from)
	_, telemetry := ReadTelemetry(p.Tables["telemetry"], from)
	_, agent := ReadAgent(p.Tables["agent"])
	_, bundle := bundles.Read(p.Tables["policy"])
	return slices.Concat(found, api, mcp, telemetry, place.Check(p.Tables), process.Check(p.Tables["hook"]), agent, bundle)
}
