package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/certificate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/visible"
)

// reloadPoll is how often the files are looked at. Looking is cheaper than being told:
// a policy may appear in a directory that is not there yet, and mounted secrets are
// replaced by links.
const reloadPoll = time.Second

// reloader brings changed files into force while up runs: all of them or none (FM11).
type reloader struct {
	up     *upRun
	gw     *gateway.Gateway
	api    *decide.Server
	tls    *certificate.Files // nil without TLS
	seen   string             // the state of the files that were last tried
	hangup chan os.Signal
}

// newReloader listens for SIGHUP from now on.
func newReloader(u *upRun, gw *gateway.Gateway, api *decide.Server, tls *certificate.Files) *reloader {
	r := &reloader{up: u, gw: gw, api: api, tls: tls, hangup: make(chan os.Signal, 1)}
	r.seen = r.state()
	signal.Notify(r.hangup, syscall.SIGHUP)
	return r
}

// run reloads on SIGHUP and when a file changes, until ctx ends.
func (r *reloader) run(ctx context.Context) {
	defer signal.Stop(r.hangup)
	ticker := time.NewTicker(reloadPoll)
	defer ticker.Stop()
	for {
		select {
		case <-r.hangup:
			r.seen = r.state()
			if r.tls != nil {
				r.tls.Refresh()
			}
			r.reload(ctx)
		case <-ticker.C:
			now := r.state()
			if now == r.seen {
				continue
			}
			r.seen = now
			r.reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// reload reads everything anew and says what came of it.
func (r *reloader) reload(ctx context.Context) {
	err := r.try()
	if err == nil {
		r.up.log.Info("reloaded", "policy", r.up.gateway.Gate.PolicyHash()[:12])
		return
	}
	cause := "unreadable"
	var mistakes mistakesError
	if errors.As(err, &mistakes) {
		mistakes.list.Sort()
		fmt.Fprint(r.up.err, diag.Text(mistakes.list.Errors(), mistakes.set.Text))
		if first := mistakes.list.Errors(); len(first) > 0 {
			cause = fmt.Sprintf("%s in %s:%d", first[0].Code, first[0].File, first[0].Range.Start.Line)
		}
	}
	r.up.log.Error("reload refused: what was in force stays", "error", err, "policy", r.up.gateway.Gate.PolicyHash()[:12])
	r.up.gateway.Gate.Reject(ctx, cause)
}

// try prepares everything, and puts it into force if all of it is good. A file that is
// not there any more is not good: it took its rules along (FM12).
func (r *reloader) try() error {
	u := r.up
	l, err := u.flags.load(u.err)
	if err != nil {
		return err
	}
	for _, file := range u.set.Files {
		if file.Scope != config.Embedded && l.set.Text(file.Path) == nil {
			return hintedError{fmt.Errorf("%s is gone", visible.Text(file.Path)), "without it other rules would hold: restart to want that"}
		}
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
func (r *reloader) needRestart(l loaded, o *gateway.Options, desk apiSettings) {
	u := r.up
	var later []string
	if now := u.gateway.Settings; o.Settings.Listen != now.Listen || o.Settings.TLSCert != now.TLSCert || o.Settings.TLSKey != now.TLSKey {
		later = append(later, "[gateway] listen, tls_cert, tls_key")
	}
	if before := u.desk; !reflect.DeepEqual(desk.withoutTokens(), before.withoutTokens()) {
		later = append(later, "[api], [approvals]")
	}
	if state, err := stateOf(l, u.flags.stateFlags); err != nil || !reflect.DeepEqual(state, u.state.settings) {
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

// state describes the files that decide what holds, well enough to see a change.
func (r *reloader) state() string {
	f := &r.up.flags.policyFlags
	var text strings.Builder
	if dir, err := os.Getwd(); err == nil {
		where := config.Standard(dir)
		where.Policy = f.files
		if set, err := config.Discover(where); err == nil {
			for _, file := range set.Files {
				fmt.Fprintf(&text, "%s %s %t\n", file.Path, file.Hash, file.Trusted)
			}
		} else {
			fmt.Fprintf(&text, "%v\n", err)
		}
	}
	for _, path := range append(r.up.secrets, f.tools) {
		if path == "" {
			continue
		}
		at, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(&text, "%s is gone\n", path)
		case err == nil:
			fmt.Fprintf(&text, "%s %d %d\n", path, at.Size(), at.ModTime().UnixNano())
		}
	}
	return text.String()
}
