package operate

import (
	"reflect"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/mcpgate"
)

// mcpReload has the parts of mcp that a reload changes: the policy and the tokens over HTTP.
// Servers and their clients' sessions go on.
type mcpReload struct {
	run     *mcpRun
	gate    *gate.Gate
	gateway *mcpgate.Gateway
	handler *mcpgate.Handler // nil on standard input and output
}

// try reads the files and applies them if none of them has mistakes.
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
	api, err := apiOf(l)
	if err != nil {
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
	var changed []string
	if !reflect.DeepEqual(settings.Gateway, r.settings.Gateway) || !reflect.DeepEqual(settings.Table.Servers, r.settings.Table.Servers) ||
		!reflect.DeepEqual(settings.Table.Env, r.settings.Table.Env) || !reflect.DeepEqual(settings.Secrets, r.settings.Secrets) {
		changed = append(changed, "[mcp] but its tokens")
	}
	if !reflect.DeepEqual(api.WithoutTokens(), r.api.WithoutTokens()) {
		changed = append(changed, "[approvals]")
	}
	r.needRestart(l, changed...)
	r.settings.Files = settings.Files
	return nil
}

// mcpSettingsOf reads the table [mcp], and notes the files of its tokens.
func mcpSettingsOf(l inputs.Loaded) (tables.MCP, error) {
	var files []string
	settings, mistakes := tables.ReadMCP(l.Program.Settings().Tables, noting(secret.Machine(), &files))
	if err := l.Mistakes(mistakes); err != nil {
		return settings, err
	}
	settings.Files = files
	return settings, nil
}
