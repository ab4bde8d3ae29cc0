package operate

import (
	"reflect"
	"strings"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
)

// upReload is what up reloads.
type upReload struct {
	up  *upRun
	gw  *gateway.Gateway
	api *decide.Server
}

// try prepares everything, and puts it into force if all of it is good.
func (r *upReload) try() error {
	u := r.up
	l, err := u.flags.Load(u.Err)
	if err != nil {
		return err
	}
	if err := service.SameFiles(u.Set, l.Set); err != nil {
		return err
	}
	options, secrets, err := gatewaySettings(l, u.flags)
	if err != nil {
		return err
	}
	u.complete(&options)
	desk, err := deskSettings(l, u.flags)
	if err != nil {
		return err
	}
	apply, err := r.gw.Prepare(options)
	if err != nil {
		return err
	}
	if err := u.gateway.Gate.Swap(l.Program); err != nil {
		return err
	}
	apply()
	if err := r.api.SetTokens(desk.Tokens); err != nil {
		return err
	}
	u.Set, u.secrets = l.Set, secrets
	u.current.Store(l.Program)
	u.numbers.Tools(l.Program.Tools())
	r.needRestart(l, &options, desk)
	return nil
}

// needRestart names what changed and holds only after a restart.
func (r *upReload) needRestart(l inputs.Loaded, o *gateway.Options, desk tables.API) {
	u := r.up
	var later []string
	if now := u.gateway.Settings; o.Settings.Listen != now.Listen || o.Settings.TLSCert != now.TLSCert || o.Settings.TLSKey != now.TLSKey {
		later = append(later, "[gateway] listen, tls_cert, tls_key")
	}
	if before := u.desk; !reflect.DeepEqual(desk.WithoutTokens(), before.WithoutTokens()) {
		later = append(later, "[api], [approvals]")
	}
	if state, err := inputs.StateOf(l, u.flags.State); err != nil || !state.Same(u.state.Settings) {
		later = append(later, "[store], [audit]")
	}
	if talk, err := tables.TelemetryOf(l, u.flags.LogFlags); err != nil || !reflect.DeepEqual(talk, u.talk) {
		later = append(later, "[telemetry]")
	}
	if len(later) > 0 {
		u.log.Warn("some changes need a restart", "tables", strings.Join(later, ", "))
	}
}
