package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
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

// outside is what settings refer to.
type outside struct {
	getenv func(string) string
	read   func(string) ([]byte, error)
}

// machine is the machine that the process runs on.
func machine() outside { return outside{os.Getenv, readSecret} }

// anywhere answers for a machine that is not this one, for check.
func anywhere() outside {
	some := strings.Repeat("x", minToken)
	return outside{func(string) string { return some }, func(string) ([]byte, error) { return []byte(some), nil }}
}

// apiConfig reads the tables; every mistake is reported with its place.
func apiConfig(tables map[string]*tomltree.Value, from outside) (apiSettings, diag.List) {
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
	from  outside
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

// minToken is the least length of a token: nobody tries out so many.
const minToken = 16

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
		token.SHA256 = c.hash(e.Value, t)
		c.s.tokens = append(c.s.tokens, token)
	}
}

// hash finds a token's hash. The token itself is not kept.
func (c *apiReader) hash(at *tomltree.Value, t tokenTable) (sum [sha256.Size]byte) {
	given := 0
	for _, source := range []string{t.SHA256, t.Env, t.File} {
		if source != "" {
			given++
		}
	}
	if given != 1 {
		c.report(at, "want one of sha256, env and file")
		return sum
	}
	if t.SHA256 != "" {
		raw, err := hex.DecodeString(t.SHA256)
		if err != nil || len(raw) != len(sum) {
			c.report(at, "sha256 is the hash of the token, 64 hexadecimal digits: printf %%s TOKEN | sha256sum")
			return sum
		}
		return [sha256.Size]byte(raw)
	}
	text := c.from.getenv(t.Env)
	if t.File != "" {
		raw, err := c.from.read(t.File)
		if err != nil {
			c.report(at, "%v", err)
			return sum
		}
		text = strings.TrimRight(string(raw), "\r\n")
	}
	switch {
	case text == "" && t.Env != "":
		c.report(at, "the environment variable %s is not set", t.Env)
	case len(text) < minToken:
		c.report(at, "a token of fewer than %d characters can be guessed: openssl rand -hex 32 makes one", minToken)
	}
	return sha256.Sum256([]byte(text))
}

// readSecret reads a file that others cannot read.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if at.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others: chmod 600 it", path)
	}
	text := make([]byte, 4096)
	n, err := f.Read(text)
	return text[:n], err
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
		if c.s.secret = c.from.getenv(a.Webhook.SecretEnv); c.s.secret == "" {
			c.report(at, "the environment variable %s is not set", a.Webhook.SecretEnv)
		}
	}
}
