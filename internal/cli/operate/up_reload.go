package operate

import (
	"reflect"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli/service"
)

// upReload has the parts of up that a reload changes.
type upReload struct {
	up  *upRun
	gw  *gateway.Gateway
	api *decide.Server
}

// try reads the files and applies them if none of them has mistakes.
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
	if err := u.addEventPolicies(&options, l.Program); err != nil {
		return err
	}
	api, err := apiSettings(l, u.flags)
	if err != nil {
		return err
	}
	apply, err := r.gw.Prepare(options)
	if err != nil {
		return err
	}
	if err := u.gate.Swap(l.Program); err != nil {
		return err
	}
	apply()
	if err := r.api.SetTokens(api.Tokens); err != nil {
		return err
	}
	u.secrets = secrets
	u.inForce(l)
	var changed []string
	if o, now := options.Settings, u.gateway.Settings; o.Listen != now.Listen || o.TLSCert != now.TLSCert || o.TLSKey != now.TLSKey {
		changed = append(changed, "[gateway] listen, tls_cert, tls_key")
	}
	if !reflect.DeepEqual(api.WithoutTokens(), u.api.WithoutTokens()) {
		changed = append(changed, "[api], [approvals], [identity]")
	}
	u.needRestart(l, changed...)
	return nil
}
