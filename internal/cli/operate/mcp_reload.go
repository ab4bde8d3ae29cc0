package operate

import (
	"reflect"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/mcpgate"
)

// mcpReload is what mcp reloads: the policy, and who may talk over HTTP. Servers and
// their clients' sessions go on.
type mcpReload struct {
	run     *mcpRun
	gate    *gate.Gate
	gateway *mcpgate.Gateway
	handler *mcpgate.Handler // nil on standard input and output
}

// try prepares everything, and puts it into force if all of it is good.
func (c *mcpReload) try() error {
	r := c.run
	l, err := r.flags.LoadAt(r.Err, r.flags.paths)
	if err != nil {
		return err
	}
	if err := service.SameFiles(r.Set, l.Set); err != nil {
		return err
	}
	settings, err := mcpSettingsOf(l)
	if err != nil {
		return err
	}
	desk, mistakes := tables.ReadAPI(l.Program.Settings().Tables, secret.Machine())
	if err := l.Mistakes(mistakes); err != nil {
		return err
	}
	if err := c.gate.Swap(l.Program); err != nil {
		return err
	}
	if c.handler != nil {
		tokens := settings.Tokens
		if len(tokens) == 0 {
			tokens = r.own
		}
		c.handler.SetTokens(tokens)
	}
	r.Set = l.Set
	r.current.Store(l.Program)
	c.gateway.PolicyChanged()
	c.needRestart(l, settings, desk)
	r.settings.Files = settings.Files
	return nil
}

// needRestart names what changed and holds only after a restart.
func (c *mcpReload) needRestart(l inputs.Loaded, settings tables.MCP, desk tables.API) {
	r := c.run
	var later []string
	if !reflect.DeepEqual(settings.Gateway, r.settings.Gateway) || !reflect.DeepEqual(settings.Table.Servers, r.settings.Table.Servers) ||
		!reflect.DeepEqual(settings.Table.Env, r.settings.Table.Env) || !reflect.DeepEqual(settings.Secrets, r.settings.Secrets) {
		later = append(later, "[mcp] but its tokens")
	}
	if !reflect.DeepEqual(desk.WithoutTokens(), r.desk.WithoutTokens()) {
		later = append(later, "[approvals]")
	}
	if state, err := inputs.StateOf(l, r.flags.State); err != nil || !state.Same(r.state.Settings) {
		later = append(later, "[store], [audit]")
	}
	if talk, err := tables.TelemetryOf(l, r.flags.LogFlags); err != nil || !reflect.DeepEqual(talk, r.talk) {
		later = append(later, "[telemetry]")
	}
	if len(later) > 0 {
		r.log.Warn("some changes need a restart", "tables", strings.Join(later, ", "))
	}
}

// mcpSettingsOf reads the table [mcp], and notes the files that its tokens stand in.
func mcpSettingsOf(l inputs.Loaded) (tables.MCP, error) {
	var files []string
	settings, mistakes := tables.ReadMCP(l.Program.Settings().Tables, noting(secret.Machine(), &files))
	if err := l.Mistakes(mistakes); err != nil {
		return settings, err
	}
	settings.Files = files
	return settings, nil
}
