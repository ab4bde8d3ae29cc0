package main

import (
	"reflect"
	"strings"

	"github.com/stopgate/stopgate/gate"
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
	l, err := r.flags.loadAt(r.err, r.flags.paths)
	if err != nil {
		return err
	}
	if err := sameFiles(r.set, l.set); err != nil {
		return err
	}
	settings, err := mcpSettingsOf(l)
	if err != nil {
		return err
	}
	desk, mistakes := apiConfig(l.program.Settings().Tables, secret.Machine())
	if err := l.mistakes(mistakes); err != nil {
		return err
	}
	if err := c.gate.Swap(l.program); err != nil {
		return err
	}
	if c.handler != nil {
		tokens := settings.tokens
		if len(tokens) == 0 {
			tokens = r.own
		}
		c.handler.SetTokens(tokens)
	}
	r.set = l.set
	r.current.Store(l.program)
	c.gateway.PolicyChanged()
	c.needRestart(l, settings, desk)
	r.settings.files = settings.files
	return nil
}

// needRestart names what changed and holds only after a restart.
func (c *mcpReload) needRestart(l loaded, settings mcpSettings, desk apiSettings) {
	r := c.run
	var later []string
	if !reflect.DeepEqual(settings.set, r.settings.set) || !reflect.DeepEqual(settings.table.Servers, r.settings.table.Servers) ||
		!reflect.DeepEqual(settings.table.Env, r.settings.table.Env) || !reflect.DeepEqual(settings.secrets, r.settings.secrets) {
		later = append(later, "[mcp] but its tokens")
	}
	if !reflect.DeepEqual(desk.withoutTokens(), r.desk.withoutTokens()) {
		later = append(later, "[approvals]")
	}
	if state, err := stateOf(l, r.flags.stateFlags); err != nil || !state.Same(r.state.settings) {
		later = append(later, "[store], [audit]")
	}
	if talk, err := telemetryOf(l, r.flags.talkFlags); err != nil || !reflect.DeepEqual(talk, r.talk) {
		later = append(later, "[telemetry]")
	}
	if len(later) > 0 {
		r.log.Warn("some changes need a restart", "tables", strings.Join(later, ", "))
	}
}

// mcpSettingsOf reads the table [mcp], and notes the files that its tokens stand in.
func mcpSettingsOf(l loaded) (mcpSettings, error) {
	var files []string
	settings, mistakes := mcpConfig(l.program.Settings().Tables, noting(secret.Machine(), &files))
	if err := l.mistakes(mistakes); err != nil {
		return settings, err
	}
	settings.files = files
	return settings, nil
}
