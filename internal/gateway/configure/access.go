package configure

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// access is the part of the table [gateway] that controls access.
type access struct {
	TokenEnv string                `toml:"token_env"`
	Tokens   map[string]tokenTable `toml:"tokens"`
	TLSCert  string                `toml:"tls_cert"`
	TLSKey   string                `toml:"tls_key"`
}

// tokenTable is one table [gateway.tokens.NAME].
type tokenTable struct {
	SHA256 string `toml:"sha256"`
	Env    string `toml:"env"`
	File   string `toml:"file"`
	// Groups are the groups of the client; nil if they are not known.
	Groups *[]string `toml:"groups"`
}

func (c *configurer) access(t *tomltree.Value, a *access) {
	if e := t.Get("token_env"); e != nil {
		token, err := c.from.Text(a.TokenEnv, "")
		if err != nil {
			c.Report(e.Value, "%v", err)
		}
		c.o.Token = token
	}
	if e := t.Get("tokens"); e != nil && e.Value.Kind == tomltree.Table {
		for _, e := range e.Value.Entries {
			c.token(e, a.Tokens[e.Key])
		}
	}
	c.o.Settings.TLSCert, c.o.Settings.TLSKey = a.TLSCert, a.TLSKey
	for key, other := range map[string]string{"tls_cert": a.TLSKey, "tls_key": a.TLSCert} {
		if e := t.Get(key); e != nil && other == "" {
			c.Report(e.Value, "TLS needs both tls_cert and tls_key")
		}
	}
}

// The principals of the gateway for clients with an unnamed token, and for clients that need none.
const (
	anyToken stopgate.Principal = "token"
	local    stopgate.Principal = "local"
)

func (c *configurer) token(e *tomltree.Entry, t tokenTable) {
	name := stopgate.Principal(e.Key)
	if !stopgate.ValidToolName(stopgate.ToolName(e.Key)) || name == local || name == anyToken && c.o.Token != "" {
		c.Report(e.Value, "the name %q: want 1 to 128 letters, digits and . _ : -, and not %q, which belongs to clients without a token", e.Key, local)
	}
	hash, err := c.from.Hash(t.SHA256, t.Env, t.File)
	if err != nil {
		c.Report(e.Value, "%v", err)
	}
	token := gateway.Token{Name: name, SHA256: hash}
	if t.Groups != nil {
		if token.Groups, err = stopgate.GroupsOf(*t.Groups...); err != nil {
			c.Report(e.Value, "%v", err)
		}
	}
	c.o.Tokens = append(c.o.Tokens, token)
}
