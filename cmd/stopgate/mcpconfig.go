package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/mcpgate"
)

// mcpTable is the table [mcp].
type mcpTable struct {
	Deny           string                    `toml:"deny"`
	UnknownMethods string                    `toml:"unknown_methods"`
	Elicitation    bool                      `toml:"elicitation"`
	Hold           time.Duration             `toml:"hold"`
	Timeout        time.Duration             `toml:"timeout"`
	Origins        []string                  `toml:"origins"`
	Hosts          []string                  `toml:"hosts"`
	Env            []string                  `toml:"env"`
	Tokens         map[string]mcpTokenTable  `toml:"tokens"`
	Servers        map[string]mcpServerTable `toml:"servers"`
}

// mcpTokenTable is one table [mcp.tokens.NAME].
type mcpTokenTable struct {
	SHA256 string `toml:"sha256"`
	Env    string `toml:"env"`
	File   string `toml:"file"`
}

// mcpServerTable is one table [mcp.servers.NAME].
type mcpServerTable struct {
	Command  []string          `toml:"command"`
	URL      string            `toml:"url"`
	Env      []string          `toml:"env"`
	TokenEnv string            `toml:"token_env"`
	Pins     map[string]string `toml:"pins"`
}

// mcpSettings are the table [mcp] as the gateway takes it.
type mcpSettings struct {
	table  mcpTable
	set    mcpgate.Settings
	tokens []mcpgate.Token
	// secrets are the credentials for servers, by their names.
	secrets map[string]string
	files   []string // that tokens stand in
}

// mcpConfig reads the table; every mistake is reported with its place.
func mcpConfig(tables map[string]*tomltree.Value, from secret.Reader) (mcpSettings, diag.List) {
	s := mcpSettings{secrets: map[string]string{}}
	c := apiReader{from: from}
	if c.diags = tomltree.Decode(tables["mcp"], &s.table); c.diags.HasErrors() || tables["mcp"] == nil {
		return s, c.diags
	}
	t, at := &s.table, tables["mcp"]
	c.word(at, "deny", t.Deny, "result", "error")
	c.word(at, "unknown_methods", t.UnknownMethods, "forward", "deny")
	for key, d := range map[string]time.Duration{"hold": t.Hold, "timeout": t.Timeout} {
		if e := at.Get(key); e != nil && d <= 0 {
			c.report(e.Value, "%s must be above zero", key)
		}
	}
	s.set = mcpgate.Settings{
		DenyAsError: t.Deny == "error", RefuseUnknown: t.UnknownMethods == "deny", Elicitation: t.Elicitation,
		ApprovalTimeout: t.Hold, Timeout: t.Timeout, Origins: t.Origins, Hosts: t.Hosts,
	}
	if e := at.Get("tokens"); e != nil {
		for _, e := range e.Value.Entries {
			token := t.Tokens[e.Key]
			if e.Key == "" || e.Key == string(decide.Local) {
				c.report(e.Value, "the name %q belongs to the machine's own programs", e.Key)
			}
			sum, err := from.Hash(token.SHA256, token.Env, token.File)
			if err != nil {
				c.report(e.Value, "%v", err)
			}
			s.tokens = append(s.tokens, mcpgate.Token{Name: stopgate.Principal(e.Key), SHA256: sum})
		}
	}
	c.servers(at, &s)
	return s, c.diags
}

// mcpServersConfig reads what of the table a client of the servers needs: not who may
// talk to the gateway.
func mcpServersConfig(tables map[string]*tomltree.Value, from secret.Reader) (mcpSettings, diag.List) {
	s := mcpSettings{secrets: map[string]string{}}
	c := apiReader{from: from}
	if c.diags = tomltree.Decode(tables["mcp"], &s.table); c.diags.HasErrors() || tables["mcp"] == nil {
		return s, c.diags
	}
	c.servers(tables["mcp"], &s)
	return s, c.diags
}

func (c *apiReader) servers(at *tomltree.Value, s *mcpSettings) {
	if e := at.Get("servers"); e != nil {
		for _, e := range e.Value.Entries {
			c.server(e.Key, e.Value, s.table.Servers[e.Key], s.secrets)
		}
	}
}

func (c *apiReader) word(t *tomltree.Value, key, word string, known ...string) {
	if e := t.Get(key); e != nil && !slices.Contains(known, word) {
		c.report(e.Value, "want %s, not %q", diag.OneOf(known), word)
	}
}

func (c *apiReader) server(name string, at *tomltree.Value, t mcpServerTable, secrets map[string]string) {
	if !mcpgate.ValidServerID(stopgate.ServerID(name)) {
		c.report(at, "%q names no server: want 1 to 32 of a-z, 0-9 and -", name)
	}
	switch {
	case (len(t.Command) == 0) == (t.URL == ""):
		c.report(at, "want one of command and url")
	case t.URL != "":
		if err := checkURL(t.URL); err != nil {
			c.report(at, "%v", err)
		}
	}
	if e := at.Get("pins"); e != nil {
		for _, e := range e.Value.Entries {
			if hash, err := hex.DecodeString(t.Pins[e.Key]); err != nil || len(hash) != sha256.Size {
				c.report(e.Value, "want the hash of a definition, 64 digits as stopgate mcp pin list --format json prints them")
			}
		}
	}
	if t.TokenEnv != "" {
		text, err := c.from.Text(t.TokenEnv, "")
		if err != nil {
			c.report(at, "%v", err)
		}
		secrets[name] = text
	}
}

// checkURL reports what is wrong with the address of a server.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("want http://HOST/... or https://HOST/... without a user, not %q", text)
	}
	return nil
}
