package tables

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/approve/command"
	"github.com/stopgate/stopgate/internal/approve/webhook"
	"github.com/stopgate/stopgate/internal/approve/who"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/identity"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// DefaultSocket is the path of the socket without settings: in the directory for files that end
// with the login, else in the user's state directory.
func DefaultSocket() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if at, err := os.Stat(dir); err == nil && at.IsDir() {
			return filepath.Join(dir, "stopgate", "api.sock"), nil
		}
	}
	return place.Path("api.sock")
}

// Names returns the further names of tools, see [who.Rules.Require].
type Names = func() map[stopgate.ToolName]stopgate.ToolName

// Queue is the queue that a gate asks.
func (a API) Queue(store approve.Store, log *slog.Logger, names Names) (*approve.Queue, error) {
	return approve.New(store, a.QueueOptions(log, names))
}

// QueueOptions returns the options of the queue of questions.
func (a API) QueueOptions(log *slog.Logger, names Names) approve.Options {
	o := approve.Options{
		Require: a.Who.Require(names),
		Defer:   a.Approvals.Absent == "defer",
		Failed:  func(what string, err error) { log.Warn("approvals", "what", what, "error", err) },
	}
	o.Notify = a.notifiers()
	return o
}

// notifiers returns the notifiers of new questions.
func (a API) notifiers() (list []approve.Notifier) {
	if line := a.Approvals.Notify; line != "" {
		list = append(list, &command.Command{Line: line})
	}
	if w := a.Approvals.Webhook; w != nil {
		list = append(list, &webhook.Hook{URL: w.URL, Secret: a.secret, Arguments: w.Arguments, Pages: a.Table.PublicURL})
	}
	return list
}

// APITable is the table [api].
type APITable struct {
	Listen    string                `toml:"listen"`
	Socket    string                `toml:"socket"`
	PublicURL string                `toml:"public_url"`
	Tokens    map[string]tokenTable `toml:"tokens"`
	Groups    map[string]groupTable `toml:"groups"`
}

// groupTable is one table [api.groups.NAME].
type groupTable struct {
	Scopes []string `toml:"scopes,required"`
}

// tokenTable is one table [api.tokens.NAME].
type tokenTable struct {
	Scopes []string `toml:"scopes,required"`
	tokenSource
}

// tokenSource is a token's hash, or where the token is read.
type tokenSource struct {
	SHA256 string `toml:"sha256"`
	Env    string `toml:"env"`
	File   string `toml:"file"`
	// Groups are the groups of the bearer; nil if they are not known.
	Groups *[]string `toml:"groups"`
}

// webhookTable is the table [approvals.webhook].
type webhookTable struct {
	URL       string `toml:"url,required"`
	SecretEnv string `toml:"secret_env"`
	Arguments bool   `toml:"arguments"`
}

// absence is how a question is answered when no approver can be reached.
type absence string

// UnmarshalText reads absent.
func (a *absence) UnmarshalText(text []byte) error {
	*a = absence(text)
	if *a != "deny" && *a != "defer" {
		return fmt.Errorf(`want "deny" or "defer", not %q`, text)
	}
	return nil
}

// approvalsTable is the table [approvals].
type approvalsTable struct {
	Absent       absence       `toml:"absent"`
	Hold         time.Duration `toml:"hold"`
	UnaryTimeout time.Duration `toml:"unary_timeout"`
	Expires      time.Duration `toml:"expires"`
	Notify       string        `toml:"notify"`
	Webhook      *webhookTable `toml:"webhook"`
	// Programs permits programs to answer questions of sessions that they began.
	Programs bool `toml:"programs"`
	// Who is read by package who.
	Who *tomltree.Value `toml:"who"`
}

// API are the tables [api] and [approvals].
type API struct {
	Table     APITable
	Tokens    []decide.Token
	Groups    []decide.GroupScopes
	Identity  *identity.OIDC // nil for none
	Workloads *identity.MTLS // nil for none
	Approvals approvalsTable
	Who       who.Rules
	secret    string // of the webhook
}

// NoSocket is the name of no socket.
const NoSocket = "none"

// ReadAPI reads the tables; every mistake is reported with its place.
func ReadAPI(tables map[string]*tomltree.Value, from secret.Reader) (API, diag.List) {
	a := API{Approvals: approvalsTable{
		Absent: "deny", Hold: 15 * time.Minute, UnaryTimeout: 50 * time.Second, Expires: 15 * time.Minute, Programs: true,
	}}
	api, approvals := tomltree.Read(tables["api"], &a.Table), tomltree.Read(tables["approvals"], &a.Approvals)
	var wrong diag.List
	a.Identity, a.Workloads, wrong = ReadIdentity(tables)
	approvals.Mistakes = append(approvals.Mistakes, wrong...)
	a.Who, wrong = who.Read(tables)
	approvals.Mistakes = append(approvals.Mistakes, wrong...)
	if !api.Mistakes.HasErrors() && !approvals.Mistakes.HasErrors() {
		a.checkAddresses(api)
		a.readTokens(api, from)
		a.readGroups(api)
		a.readApprovals(approvals, from)
	}
	return a, append(api.Mistakes, approvals.Mistakes...)
}

func (a *API) checkAddresses(s *tomltree.Settings) {
	if e := s.Get("listen"); e != nil {
		if _, _, err := net.SplitHostPort(a.Table.Listen); err != nil {
			s.Report(e.Value, "want HOST:PORT, not %q", a.Table.Listen)
		} else if len(a.Table.Tokens) == 0 && a.Identity == nil {
			s.Report(e.Value, "an address can be reached by every program of the machine: add [api.tokens.NAME] or [identity.oidc] first")
		}
	}
	if e := s.Get("public_url"); e != nil {
		if u, err := url.Parse(a.Table.PublicURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			s.Report(e.Value, "want http://HOST or https://HOST, not %q", a.Table.PublicURL)
		}
	}
}

func (a *API) readTokens(s *tomltree.Settings, from secret.Reader) {
	tokens := s.Get("tokens")
	if tokens == nil {
		return
	}
	for _, e := range tokens.Value.Entries {
		t := a.Table.Tokens[e.Key]
		a.Tokens = append(a.Tokens, decide.Token{
			Name: stopgate.Principal(e.Key), SHA256: t.hash(s, e, from), Groups: groupsOf(s, e.Value, t.Groups), Scopes: scopes(s, e.Value, "token", t.Scopes),
		})
	}
}

// readGroups reads the scopes of clients that the identity provider authenticates.
func (a *API) readGroups(s *tomltree.Settings) {
	groups := s.Get("groups")
	if groups == nil {
		return
	}
	if a.Identity == nil {
		s.Report(groups.Value, "groups are those of clients that an identity provider names: add [identity.oidc], or give tokens scopes of their own")
	}
	for _, e := range groups.Value.Entries {
		if _, err := stopgate.GroupsOf(e.Key); err != nil {
			s.Report(e.Value, "%v", err)
		}
		a.Groups = append(a.Groups, decide.GroupScopes{Group: e.Key, Scopes: scopes(s, e.Value, "group", a.Table.Groups[e.Key].Scopes)})
	}
}

func scopes(s *tomltree.Settings, at *tomltree.Value, of string, names []string) (all decide.Scope) {
	const want = "want decide, observe, approve, operate or texts"
	for _, name := range names {
		scope, ok := decide.ParseScope(name)
		if !ok {
			s.Report(at, "there is no scope %q: %s", name, want)
		}
		all |= scope
	}
	if len(names) == 0 {
		s.Report(at, "a %s without scopes opens nothing: %s", of, want)
	}
	return all
}

// hash checks the name of a token and returns its hash.
func (t tokenSource) hash(s *tomltree.Settings, e *tomltree.Entry, from secret.Reader) [sha256.Size]byte {
	if e.Key == "" || e.Key == string(decide.Local) {
		s.Report(e.Value, "the name %q belongs to the machine's own programs", e.Key)
	}
	hash, err := from.Hash(t.SHA256, t.Env, t.File)
	if err != nil {
		s.Report(e.Value, "%v", err)
	}
	return hash
}

func (a *API) readApprovals(s *tomltree.Settings, from secret.Reader) {
	tomltree.Positive(s, "hold", a.Approvals.Hold)
	tomltree.Positive(s, "unary_timeout", a.Approvals.UnaryTimeout)
	tomltree.Positive(s, "expires", a.Approvals.Expires)
	hook := a.Approvals.Webhook
	if hook == nil {
		return
	}
	at := s.Get("webhook").Value
	if u, err := url.Parse(hook.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		s.Report(at, "webhook: want http://HOST/... or https://HOST/..., not %q", hook.URL)
	}
	if hook.SecretEnv != "" {
		if a.secret = from.Getenv(hook.SecretEnv); a.secret == "" {
			s.Report(at, "the environment variable %s is not set", hook.SecretEnv)
		}
	}
}

// NotifiersOf returns the notifiers of the table [approvals].
func NotifiersOf(table *tomltree.Value) ([]approve.Notifier, error) {
	var a API
	s := tomltree.Read(table, &a.Approvals)
	if !s.Mistakes.HasErrors() {
		a.readApprovals(s, secret.Reader{Getenv: os.Getenv})
	}
	if s.Mistakes.HasErrors() {
		return nil, s.Mistakes.Err()
	}
	return a.notifiers(), nil
}

// WithoutTokens are the settings that hold after a restart only.
func (a API) WithoutTokens() API {
	a.Tokens, a.Table.Tokens, a.Approvals.Who = nil, nil, nil // Who is read already
	return a
}
