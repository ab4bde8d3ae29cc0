package operate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/identity"
	"github.com/stopgate/stopgate/internal/record/metrics"
	"github.com/stopgate/stopgate/internal/release"
)

// decisionRun is a run of a gate with a decision API: up and serve.
type decisionRun struct {
	gateRun
	gate      *gate.Gate
	queue     *approve.Queue
	numbers   *metrics.Metrics
	callers   *identity.Provider     // nil for none
	workloads *identity.Certificates // nil for none
	described atomic.Pointer[decide.Description]
}

// openGate opens the gate on the state. The caller closes the telemetry.
func (u *decisionRun) openGate(ctx context.Context) (tele *service.Telemetry, err error) {
	if u.queue, err = u.api.Queue(u.state.Questions, u.log, u.toolNames); err != nil {
		return nil, err
	}
	key, err := sealKey(ctx, u.state)
	if err != nil {
		return nil, err
	}
	u.numbers = metrics.New(u.Program.Tools())
	if tele, err = service.OpenTelemetry(ctx, u.talk, u.numbers, u.log); err != nil {
		return nil, err
	}
	u.gate, err = u.state.Gate(u.Program, tele, gate.WithApprover(u.queue), gate.WithSealKey(key),
		gate.WithLimits(gate.Limits{Hold: u.api.Approvals.Hold, Approval: u.api.Approvals.Expires}))
	if err != nil {
		tele.Close()
	}
	return tele, err
}

// openServer makes the server of the decision API.
func (u *decisionRun) openServer(ctx context.Context, tele *service.Telemetry) (*decide.Server, error) {
	u.callers = u.identityOf()
	if m := u.api.Workloads; m != nil {
		var err error
		if u.workloads, err = identity.OpenCertificates(*m, identity.Options{Log: u.log}); err != nil {
			return nil, cli.Hinted(err, "ca of [identity.mtls] names a PEM file with the roots of the trust domain")
		}
	}
	sessionSecret, err := keptKey(ctx, u.state, "sessions", ".sessions")
	if err != nil {
		return nil, err
	}
	u.describe(u.Loaded)
	o := decide.Options{
		Gate: u.gate, Program: func() gate.Policy { return u.current.Load() }, Queue: u.queue, Sessions: u.state.Facts,
		Lockdowns: loggedLockdowns{u.state.Orders, u.logOrder}, Describe: u.description,
		SessionSecret: sessionSecret, Programs: u.api.Approvals.Programs,
		Records: rowReader{u.state.At, u.state.Settings.Records.Gate}, Tokens: u.api.Tokens, Metrics: u.numbers.Handler(), Events: tele.Events,
		PublicURL: u.api.Table.PublicURL, Trouble: gateway.Complaints(u.log),
	}
	if u.callers != nil {
		o.Identity, o.Groups, o.Logout = u.callers.Authenticate, u.api.Groups, u.callers.Logout
	}
	return decide.New(o)
}

// apply brings a policy into force that has no mistakes, for a gate without further settings.
func (u *decisionRun) apply(l inputs.Loaded, api tables.API, server *decide.Server) error {
	if err := u.gate.Swap(l.Program); err != nil {
		return err
	}
	if err := server.SetTokens(api.Tokens); err != nil {
		return err
	}
	u.inForce(l)
	var changed []string
	if !reflect.DeepEqual(api.WithoutTokens(), u.api.WithoutTokens()) {
		changed = append(changed, "[api], [approvals], [identity]")
	}
	u.needRestart(l, changed...)
	return nil
}

// inForce notes the policy that the gate has now.
func (u *decisionRun) inForce(l inputs.Loaded) {
	u.Set = l.Set
	u.current.Store(l.Program)
	u.numbers.Tools(l.Program.Tools())
	u.describe(l)
}

// describe makes a policy the one that the gate describes.
func (u *decisionRun) describe(l inputs.Loaded) {
	project, _ := os.Getwd()
	d := descriptionOf(l.Set, u.shared.Tools, project)
	u.described.Store(&d)
}

// description describes the gate.
func (u *decisionRun) description() decide.Description {
	d := *u.described.Load()
	d.Policy, d.Programs = u.gate.PolicyHash(), u.api.Approvals.Programs
	return d
}

// descriptionOf describes a gate that decides by the files of a set, without the hash of its policy.
// A file of tools that cannot be read is described as none of those that can.
func descriptionOf(set config.Set, tools, project string) decide.Description {
	d := decide.Description{Version: release.Version(), Project: project, Files: []decide.PolicyFile{}}
	for _, f := range set.Files {
		if f.Scope == config.Bundled {
			continue
		}
		path := f.Path
		if f.Scope != config.Embedded && !filepath.IsAbs(path) {
			path = filepath.Join(project, path)
		}
		d.Files = append(d.Files, decide.PolicyFile{Path: path, SHA256: f.Hash, Trusted: f.Trusted})
	}
	if tools != "" {
		text, err := os.ReadFile(tools)
		if d.Tools = "unreadable"; err == nil {
			sum := sha256.Sum256(text)
			d.Tools = hex.EncodeToString(sum[:])
		}
	}
	return d
}

// ordered reports a lockdown, or its end. The process that ordered it wrote the record into the
// store; records elsewhere get theirs here.
func (u *decisionRun) ordered(l gate.Lockdown) {
	u.logOrder(l)
	if u.state.Lines != nil {
		_ = u.gate.Note(context.Background(), gate.LockdownRow(l, l.By)) // one that is lost is counted
	}
}
