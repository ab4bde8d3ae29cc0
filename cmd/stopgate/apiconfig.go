package main

import (
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// apiTable is the table [api].
type apiTable struct {
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

// apiSettings are the tables [api] and [approvals].
type apiSettings struct {
	api       apiTable
	tokens    []decide.Token
	approvals approvalsTable
	secret    string // of the webhook
}

// noSocket is the name of no socket.
const noSocket = "none"

// apiConfig reads the tables; every mistake is reported with its place.
func apiConfig(tables map[string]*tomltree.Value, from secret.Reader) (apiSettings, diag.List) {
	c := apiReader{from: from, s: apiSettings{approvals: approvalsTable{
		Absent: "deny", Hold: 15 * time.Minute, UnaryTimeout: 50 * time.Second, Expires: 15 * time.Minute,
	}}}
	c.diags = append(tomltree.Decode(tables["api"], &c.s.api), tomltree.Decode(tables["approvals"], &c.s.approvals)...)
	if c.diags.HasErrors() {
		return c.s, c.diags
	}
	c.addresses(tables["api"])
	c.tokens(tables["api"].Get("tokens"))
	c.approvals(tables["approvals"])
	return c.s, c.diags
}

type apiReader struct {
	s     apiSettings
	from  secret.Reader
	diags diag.List
}

func (c *apiReader) report(v *tomltree.Value, format string, args ...any) {
	c.diags.Add(diag.Diagnostic{Code: diag.BadValue, File: v.File(), Range: v.Range, Message: fmt.Sprintf(format, args...)})
}

func (c *apiReader) addresses(t *tomltree.Value) {
	a := c.s.api
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
		t := c.s.api.Tokens[e.Key]
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
		c.s.tokens = append(c.s.tokens, token)
	}
}

func (c *apiReader) approvals(t *tomltree.Value) {
	a := c.s.approvals
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
