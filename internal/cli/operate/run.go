package operate

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/identity"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// gateFlags are the flags that up and mcp share.
type gateFlags struct {
	inputs.Policy
	inputs.State
	tables.LogFlags
}

// gateRun is the part of a run that up and mcp share.
type gateRun struct {
	cli.Streams
	inputs.Loaded
	shared  *gateFlags
	api     tables.API // the tables [api] and [approvals]
	state   *service.State
	talk    tables.Telemetry
	log     *slog.Logger
	tell    func(string) // shows a line to people
	current atomic.Pointer[policy.Program]
}

// open opens the log and the state.
func (r *gateRun) open(ctx context.Context) error {
	settings, err := inputs.StateOf(r.Loaded, r.shared.State)
	if err != nil {
		return err
	}
	if r.talk, err = tables.TelemetryOf(r.Loaded, r.shared.LogFlags); err != nil {
		return err
	}
	r.log, r.tell = r.talk.Logger(r.Err), r.talk.Teller(r.Err)
	settings.Trouble = func(err error) { r.log.Warn("records", "error", err) }
	r.current.Store(r.Program)
	r.state, err = service.Open(ctx, settings)
	return err
}

// toolNames returns the further names of tools in the current policy.
func (r *gateRun) toolNames() map[stopgate.ToolName]stopgate.ToolName {
	return r.current.Load().ToolNames()
}

// identityOf returns the provider that authenticates clients, nil without one.
func (r *gateRun) identityOf() *identity.Provider {
	if r.api.Identity == nil {
		return nil
	}
	o := identity.Options{
		Log: r.log, Logouts: new(identity.MemoryLogouts),
		Taken: func(who stopgate.Principal) bool {
			return r.api.Workloads.Names(who) || tables.TokenNames(r.current.Load().Settings().Tables)(who)
		},
	}
	if r.state.Store != nil {
		o.Logouts = r.state.Store // for all gates with it
	}
	return identity.New(*r.api.Identity, o)
}

// apiOf reads the tables [api] and [approvals].
func apiOf(l inputs.Loaded) (tables.API, error) {
	a, mistakes := tables.ReadAPI(l.Program.Settings().Tables, secret.Machine())
	return a, l.Mistakes(mistakes)
}

// needRestart warns of tables that changed and that a reload does not apply: those of the
// command, and those of every gate.
func (r *gateRun) needRestart(l inputs.Loaded, changed ...string) {
	if state, err := inputs.StateOf(l, r.shared.State); err != nil || !state.Same(r.state.Settings) {
		changed = append(changed, "[store], [audit]")
	}
	if talk, err := tables.TelemetryOf(l, r.shared.LogFlags); err != nil || !reflect.DeepEqual(talk, r.talk) {
		changed = append(changed, "[telemetry]")
	}
	if len(changed) > 0 {
		r.log.Warn("some changes need a restart", "tables", strings.Join(changed, ", "))
	}
}
