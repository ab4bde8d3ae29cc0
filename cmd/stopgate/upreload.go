package main

import (
	"reflect"
	"strings"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gateway"
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
	l, err := u.flags.load(u.err)
	if err != nil {
		return err
	}
	if err := sameFiles(u.set, l.set); err != nil {
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
	if err := u.gateway.Gate.Swap(l.program); err != nil {
		return err
	}
	apply()
	if err := r.api.SetTokens(desk.tokens); err != nil {
		return err
	}
	u.set, u.secrets = l.set, secrets
	u.current.Store(l.program)
	u.numbers.Tools(l.program.Tools())
	r.needRestart(l, &options, desk)
	return nil
}

// needRestart names what changed and holds only after a restart.
func (r *upReload) needRestart(l loaded, o *gateway.Options, desk apiSettings) {
	u := r.up
	var later []string
	if now := u.gateway.Settings; o.Settings.Listen != now.Listen || o.Settings.TLSCert != now.TLSCert || o.Settings.TLSKey != now.TLSKey {
		later = append(later, "[gateway] listen, tls_cert, tls_key")
	}
	if before := u.desk; !reflect.DeepEqual(desk.withoutTokens(), before.withoutTokens()) {
		later = append(later, "[api], [approvals]")
	}
	if state, err := stateOf(l, u.flags.stateFlags); err != nil || !state.Same(u.state.settings) {
		later = append(later, "[store], [audit]")
	}
	if talk, err := telemetryOf(l, u.flags.talkFlags); err != nil || !reflect.DeepEqual(talk, u.talk) {
		later = append(later, "[telemetry]")
	}
	if len(later) > 0 {
		u.log.Warn("some changes need a restart", "tables", strings.Join(later, ", "))
	}
}

// withoutTokens are the settings that hold after a restart only.
func (a apiSettings) withoutTokens() apiSettings {
	a.tokens, a.api.Tokens = nil, nil
	return a
}
