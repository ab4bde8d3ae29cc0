package tables

import (
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
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// DefaultSocket is the socket's place where nobody names one: the directory for
// what ends with the login, else the user's state directory.
func DefaultSocket() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if at, err := os.Stat(dir); err == nil && at.IsDir() {
			return filepath.Join(dir, "stopgate", "api.sock"), nil
		}
	}
	return place.Path("api.sock")
}

// Queue is the queue that a gate asks.
func (a API) Queue(store approve.Store, log *slog.Logger) (*approve.Queue, error) {
	return approve.New(store, a.QueueOptions(log))
}

// QueueOptions say who is told about questions.
func (a API) QueueOptions(log *slog.Logger) approve.Options {
	o := approve.Options{
		Defer:  a.Approvals.Absent == "defer",
		Failed: func(what string, err error) { log.Warn("approvals", "what", what, "error", err) },
	}
	o.Notify = a.notifiers()
	return o
}

// notifiers are those who are told about questions.
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
}

// tokenTable is one table [api.tokens.NAME].
type tokenTable struct {
	Scopes []string `toml:"scopes,required"`
	SHA256 string   `toml:"sha256"`
	Env    string   `toml:"env"`
	File   string   `toml:"file"`
}

// webhookTable is the table [approvals.webhook].
type webhookTable struct {
	URL       string `toml:"url,required"`
	SecretEnv string `toml:"secret_env"`
	Arguments bool   `toml:"arguments"`
}

// absence says what becomes of a question that nobody can answer.
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
}

// API are the tables [api] and [approvals].
type API struct {
	Table     APITable
	Tokens    []decide.Token
	Approvals approvalsTable
	secret    string // of the webhook
}

// NoSocket is the name of no socket.
const NoSocket = "none"

// ReadAPI reads the tables; every mistake is reported with its place.
func ReadAPI(tables map[string]*tomltree.Value, from secret.Reader) (API, diag.List) {
	c := apiReader{from: from, s: API{Approvals: approvalsTable{
		Absent: "deny", Hold: 15 * time.Minute, UnaryTimeout: 50 * time.Second, Expires: 15 * time.Minute,
	}}}
	c.diags = append(tomltree.Decode(tables["api"], &c.s.Table), tomltree.Decode(tables["approvals"], &c.s.Approvals)...)
	if c.diags.HasErrors() {
		return c.s, c.diags
	}
	c.addresses(tables["api"])
	c.tokens(tables["api"].Get("tokens"))
	c.approvals(tables["approvals"])
	return c.s, c.diags
}

type apiReader struct {
	s     API
	from  secret.Reader
	diags diag.List
}

func (c *apiReader) report(v *tomltree.Value, format string, args ...any) {
	c.diags.Add(diag.Diagnostic{Code: diag.BadValue, File: v.File(), Range: v.Range, Message: fmt.Sprintf(format, args...)})
}

func (c *apiReader) addresses(t *tomltree.Value) {
	a := c.s.Table
	if e := t.Get("listen"); e != nil {
		if _, _, err := net.SplitHostPort(a.Listen); err != nil {
			c.report(e.Value, "want HOST:PORT, not %q", a.Listen)
		} else if len(a.Tokens) == 0 {
			c.report(e.Value, "an address can be reached by every program of the machine: add [api.tokens.NAME] first")
		}
	}
	if e := t.Get("public_url"); e != nil {
		if u, err := url.Parse(a.PublicURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			c.report(e.Value, "want http://HOST or https://HOST, not %q", a.PublicURL)
		}
	}
}

func (c *apiReader) tokens(e *tomltree.Entry) {
	if e == nil {
		return
	}
	for _, e := range e.Value.Entries {
		t := c.s.Table.Tokens[e.Key]
		token := decide.Token{Name: stopgate.Principal(e.Key)}
		if e.Key == "" || e.Key == string(decide.Local) {
			c.report(e.Value, "the name %q belongs to the machine's own programs", e.Key)
		}
		for _, name := range t.Scopes {
			scope, ok := decide.ParseScope(name)
			if !ok {
				c.report(e.Value, "there is no scope %q: want decide, observe, approve or operate", name)
			}
			token.Scopes |= scope
		}
		if len(t.Scopes) == 0 {
			c.report(e.Value, "a token without scopes opens nothing: want decide, observe, approve or operate")
		}
		var err error
		if token.SHA256, err = c.from.Hash(t.SHA256, t.Env, t.File); err != nil {
			c.report(e.Value, "%v", err)
		}
		c.s.Tokens = append(c.s.Tokens, token)
	}
}

func (c *apiReader) approvals(t *tomltree.Value) {
	a := c.s.Approvals
	for key, d := range map[string]time.Duration{"hold": a.Hold, "unary_timeout": a.UnaryTimeout, "expires": a.Expires} {
		if e := t.Get(key); e != nil && d <= 0 {
			c.report(e.Value, "%s must be above zero", key)
		}
	}
	if a.Webhook == nil {
		return
	}
	at := t.Get("webhook").Value
	if u, err := url.Parse(a.Webhook.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		c.report(at, "webhook: want http://HOST/... or https://HOST/..., not %q", a.Webhook.URL)
	}
	if a.Webhook.SecretEnv != "" {
		if c.s.secret = c.from.Getenv(a.Webhook.SecretEnv); c.s.secret == "" {
			c.report(at, "the environment variable %s is not set", a.Webhook.SecretEnv)
		}
	}
}

// NotifiersOf returns the notifiers of the table [approvals].
func NotifiersOf(table *tomltree.Value) ([]approve.Notifier, error) {
	c := apiReader{from: secret.Reader{Getenv: os.Getenv}}
	if c.diags = tomltree.Decode(table, &c.s.Approvals); !c.diags.HasErrors() {
		c.approvals(table)
	}
	if c.diags.HasErrors() {
		return nil, c.diags.Err()
	}
	return c.s.notifiers(), nil
}

// WithoutTokens are the settings that hold after a restart only.
func (a API) WithoutTokens() API {
	a.Tokens, a.Table.Tokens = nil, nil
	return a
}
