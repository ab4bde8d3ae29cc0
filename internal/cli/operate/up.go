package operate

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/external"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/system/certificate"
	"github.com/stopgate/stopgate/internal/visible"
)

type upFlags struct {
	gateFlags
	listen, replayDir    string
	hosts                []string
	upstreams            map[string]*string // base URLs by vendor
	apiListen, apiSocket string
	pace                 float64
}

func NewUp(s cli.Streams) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:        "up",
		SuggestFor: []string{"start", "gateway", "proxy"},
		Short:      "run the gateway on loopback, and the decision API",
		Long: `up listens for requests of OpenAI Chat Completions, OpenAI Responses, Anthropic
Messages and Gemini, forwards them to the provider with the client's own credential, and decides
every tool call of the answers. Requests without a credential, and models named stopgate-*,
are answered by a built-in replay model, so that everything can be tried at once.

Beside it stands the decision API, on a Unix socket that only you can open: other
programs ask there (see docs/reference/api.md). What the policy asks about waits
until somebody answers: stopgate approvals watch.

When it listens it prints one line of JSON on standard output; logs go to
standard error. It drains and stops on SIGINT and SIGTERM. Policy files that change
come into force by themselves, and on SIGHUP; one with mistakes is refused and what
was in force stays.`,
		Example: `  stopgate up
  stopgate up --openai-upstream http://127.0.0.1:11434/v1
  stopgate up --policy stopgate.toml --log-format json`,
		Args: cli.NoArgs,
	}
	f.Policy.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "`ADDR` to listen on (default 127.0.0.1:8788; port 0 takes a free one)")
	flags.StringArrayVar(&f.hosts, "host", nil, "a `NAME` under which clients reach the gateway, in addition to those of [gateway] hosts; repeatable")
	f.upstreams = map[string]*string{}
	for _, v := range registry.Vendors() {
		article := "a"
		if strings.ContainsAny(v.Title[:1], "AEIO") {
			article = "an"
		}
		f.upstreams[v.Name] = flags.String(v.Name+"-upstream", "", fmt.Sprintf("base `URL` of %s %s-compatible provider", article, v.Title))
	}
	flags.StringVar(&f.replayDir, "replay", "", "answer canned requests from recorded streams in `DIR`")
	flags.Float64Var(&f.pace, "replay-pace", 80, "tokens per second of the replay model; 0 is as fast as possible")
	flags.StringVar(&f.apiListen, "api-listen", "", "serve the decision API on `ADDR` too; needs tokens in [api.tokens]")
	flags.StringVar(&f.apiSocket, "api-socket", "", "Unix socket `PATH` of the decision API, or none (default: in the user's runtime or state directory)")
	f.State.Add(cmd)
	f.LogFlags.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !(f.pace >= 0) { // NaN too
			return cli.Usagef("--replay-pace counts tokens per second, not %v", f.pace)
		}
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		return up(ctx, s, &f)
	}
	return cmd
}

func up(ctx context.Context, s cli.Streams, f *upFlags) error {
	l, err := f.Load(s.Err)
	if err != nil {
		return err
	}
	options, secrets, err := gatewaySettings(l, f)
	api, err2 := apiSettings(l, f)
	if err := together(err, err2); err != nil {
		return err
	}
	u := &upRun{decisionRun: decisionRun{gateRun: gateRun{Streams: s, Loaded: l, shared: &f.gateFlags, api: api}}, flags: f, gateway: options, secrets: secrets}
	if err := u.open(ctx); err != nil {
		return err
	}
	return errors.Join(u.run(ctx), u.state.Close())
}

// upRun is one run of up.
type upRun struct {
	decisionRun
	flags    *upFlags
	gateway  gateway.Options
	secrets  []string          // files with keys and tokens
	model    http.RoundTripper // answers canned requests
	external *external.Factory
}

// run serves with the state that open opened.
func (u *upRun) run(ctx context.Context) error {
	tele, err := u.openGate(ctx)
	if err != nil {
		return err
	}
	defer tele.Close()
	model, err := replayModel(u.flags.replayDir, u.flags.pace)
	if err != nil {
		return err
	}
	u.model = replay.Transport(model)
	u.gateway.Observer, u.gateway.Events = tele.Observer(), tele.Emit
	if u.state.Store != nil {
		u.gateway.ResponseLog = u.state.Store
	}
	u.external = tele.External
	if err := u.addEventPolicies(&u.gateway, u.Program); err != nil {
		return err
	}
	server, err := u.openServer(ctx, tele)
	if err != nil {
		return err
	}
	u.complete(&u.gateway)
	return u.state.Attend(ctx, u.gate, tele, u.log, u.ordered, func(ctx context.Context, cancel context.CancelCauseFunc) error {
		return u.serve(ctx, cancel, server)
	})
}

// serve listens, announces the addresses, and serves until ctx ends: the gateway ends first, so
// that held calls can be answered while it drains.
func (u *upRun) serve(ctx context.Context, cancel context.CancelCauseFunc, server *decide.Server) error {
	o := u.gateway
	tls, err := u.certificate(&o)
	if err != nil {
		return err
	}
	gw, err := gateway.New(o)
	if err != nil {
		return err
	}
	u.numbers.Watch(o.Gate, gw)
	following, err := u.state.Bundles(ctx, u.flags.Keeper(), o.Gate, "up", u.log)
	if err != nil {
		gw.Close()
		return err
	}
	if k := u.flags.Keeper(); k != nil {
		u.numbers.WatchBundle(k)
	}
	ln, err := net.Listen("tcp", o.Settings.Listen)
	if err != nil {
		gw.Close()
		return cli.ListenError(o.Settings.Listen, err)
	}
	d, err := openAPI(u.api.Table, server, u.log)
	if err != nil {
		gw.Close()
		return errors.Join(err, ln.Close())
	}
	changes := &upReload{up: u, gw: gw, api: server}
	reloads := &service.Reloader{
		Flags: &u.flags.Policy, Show: u.talk.Shower(u.Err), Log: u.log, Gate: o.Gate, Try: changes.try,
		Files: func() []string { return u.secrets }, Bundles: following,
	}
	if tls != nil {
		reloads.Asked = tls.Refresh
	}
	reloading := reloads.Start(ctx)
	defer func() { <-reloading }()
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := d.serve()
		if err != nil {
			cancel(cli.Hinted(fmt.Errorf("decision API: %w", err), "start stopgate up again"))
		}
		served <- err
	}()
	if err = u.announce(ln, d); err == nil {
		err = gw.Serve(ctx, ln)
	} else {
		gw.Close()
		err = errors.Join(err, ln.Close())
	}
	return errors.Join(err, d.stop(), <-served)
}

// addEventPolicies adds the external policies that see the texts of exchanges, after those of the
// table [gateway]: a service sees texts that are redacted already.
func (u *upRun) addEventPolicies(o *gateway.Options, p *policy.Program) error {
	list, err := service.EventPolicies(u.external, p, func(ctx context.Context, r stopgate.Record) {
		_ = u.gate.Note(ctx, r) // one that is lost is counted
	})
	o.Policies = append(o.Policies, list...)
	return err
}

// complete adds the options that stay the same through all reloads.
func (u *upRun) complete(o *gateway.Options) {
	o.Gate, o.Replay, o.Log = u.gate, u.model, u.log
	if u.callers != nil {
		o.Identity = u.callers
	}
	if u.workloads != nil {
		o.Certificates = u.workloads
	}
	if u.flags.replayDir != "" {
		o.Upstreams = replayed(o.Upstreams, u.model)
	}
	o.Settings.Timeouts.Unary = u.api.Approvals.UnaryTimeout
}

// certificate opens the files of the certificate, if there are any.
func (u *upRun) certificate(o *gateway.Options) (*certificate.Files, error) {
	if o.Settings.TLSCert == "" {
		if host, _, err := net.SplitHostPort(o.Settings.Listen); err == nil && !tables.IsLoopback(host) {
			u.log.Warn("tokens and prompts travel unencrypted: set [gateway] tls_cert and tls_key, or put TLS in front", "listen", o.Settings.Listen)
		}
		return nil, nil
	}
	files, err := certificate.Open(o.Settings.TLSCert, o.Settings.TLSKey, func(leaf *x509.Certificate, holds bool) {
		level, text := slog.LevelInfo, "certificate"
		if !holds {
			level, text = slog.LevelWarn, "the certificate does not hold now: clients will refuse it"
		}
		u.log.Log(context.Background(), level, text, "file", o.Settings.TLSCert, "names", leaf.DNSNames, "from", leaf.NotBefore, "to", leaf.NotAfter)
	}, func(err error) { u.log.Error("certificate", "error", err) })
	if err != nil {
		return nil, cli.Hinted(err, "tls_cert and tls_key name PEM files that belong together; only the gateway's user and group can read the key")
	}
	o.TLS = files.Config()
	return files, nil
}

// observing warns that a gate holds no call back.
const observing = "OBSERVE MODE: nothing is held back; records say what would have been decided"

// announce prints the addresses: on standard error for people, on standard output for programs.
func (u *upRun) announce(ln net.Listener, d *apiServer) error {
	g := u.gate
	at := ready{Gateway: "http://" + ln.Addr().String()}
	if u.gateway.Settings.TLSCert != "" {
		at.Gateway = "https://" + ln.Addr().String()
	}
	at.API, at.Socket = d.urls()
	if at.Socket == at.API {
		at.Socket = nil
	}
	u.tell(fmt.Sprintf("listening on %s, records in %s, policy %.12s", at.Gateway, visible.Text(u.state.Place), g.PolicyHash()))
	u.tell(fmt.Sprintf("point clients at it: OPENAI_BASE_URL=%s/v1 or ANTHROPIC_BASE_URL=%s", at.Gateway, at.Gateway))
	at.Console = d.pages(u.api.Table.PublicURL)
	if at.API != nil {
		u.tell("decision API on " + visible.Text(*at.API) + "; questions: stopgate approvals watch")
	}
	if at.Console != nil {
		u.tell("questions in a browser: " + visible.Text(*at.Console))
	}
	for _, scope := range scopes(u.Program) {
		u.tell(visible.Text(scope))
	}
	if l := g.Lockdown(); l.Active() {
		u.logOrder(l)
	}
	if !g.Enforced() {
		u.tell(observing)
	}
	return cli.WriteJSON(u.Out, at)
}

// replayed makes the replay model the upstream of every API that has no other: who
// names recordings wants them, also from a client that sends a credential.
func replayed(upstreams []gateway.Upstream, model http.RoundTripper) []gateway.Upstream {
	for _, api := range registry.VendorNames() {
		if !slices.ContainsFunc(upstreams, func(u gateway.Upstream) bool { return u.API == api || u.API == "" }) {
			upstreams = append(upstreams, gateway.Upstream{ID: "replay-" + api, API: api, Transport: model})
		}
	}
	return upstreams
}

// replayModel is the built-in model, with recordings if there is a folder of them.
func replayModel(dir string, tokensPerSecond float64) (*replay.Upstream, error) {
	o := replay.Options{TokensPerSecond: tokensPerSecond}
	if dir != "" {
		recordings, err := replay.OpenRecordings(dir)
		if err != nil {
			return nil, err
		}
		o.Recordings = recordings
	}
	return replay.New(o)
}
