package tables

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

// MCP are the table [mcp] as the gateway takes it.
type MCP struct {
	Table   mcpTable
	Gateway mcpgate.Settings
	Tokens  []mcpgate.Token
	// Secrets are the credentials for servers, by their names.
	Secrets map[string]string
	Files   []string // that tokens stand in
}

// ReadMCP reads the table; every mistake is reported with its place.
func ReadMCP(tables map[string]*tomltree.Value, from secret.Reader) (MCP, diag.List) {
	s := MCP{Secrets: map[string]string{}}
	c := apiReader{from: from}
	if c.diags = tomltree.Decode(tables["mcp"], &s.Table); c.diags.HasErrors() || tables["mcp"] == nil {
		return s, c.diags
	}
	t, at := &s.Table, tables["mcp"]
	c.word(at, "deny", t.Deny, "result", "error")
	c.word(at, "unknown_methods", t.UnknownMethods, "forward", "deny")
	for key, d := range map[string]time.Duration{"hold": t.Hold, "timeout": t.Timeout} {
		if e := at.Get(key); e != nil && d <= 0 {
			c.report(e.Value, "%s must be above zero", key)
		}
	}
	s.Gateway = mcpgate.Settings{
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
			s.Tokens = append(s.Tokens, mcpgate.Token{Name: stopgate.Principal(e.Key), SHA256: sum})
		}
	}
	c.servers(at, &s)
	return s, c.diags
}

// ReadMCPServers reads what of the table a client of the servers needs: not who may
// talk to the gateway.
func ReadMCPServers(tables map[string]*tomltree.Value, from secret.Reader) (MCP, diag.List) {
	s := MCP{Secrets: map[string]string{}}
	c := apiReader{from: from}
	if c.diags = tomltree.Decode(tables["mcp"], &s.Table); c.diags.HasErrors() || tables["mcp"] == nil {
		return s, c.diags
	}
	c.servers(tables["mcp"], &s)
	return s, c.diags
}

func (c *apiReader) servers(at *tomltree.Value, s *MCP) {
	if e := at.Get("servers"); e != nil {
		for _, e := range e.Value.Entries {
			c.server(e.Key, e.Value, s.Table.Servers[e.Key], s.Secrets)
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
		if err := CheckServerURL(t.URL); err != nil {
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

// CheckServerURL reports what is wrong with the address of a server.
func CheckServerURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("want http://HOST/... or https://HOST/... without a user, not %q", text)
	}
	return nil
}
