package tables

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
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
	Tokens         map[string]tokenSource    `toml:"tokens"`
	Servers        map[string]mcpServerTable `toml:"servers"`
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
	Files   []string // with tokens
}

// ReadMCP reads the table; every mistake is reported with its position.
func ReadMCP(tables map[string]*tomltree.Value, from secret.Reader) (MCP, diag.List) {
	return readMCP(tables["mcp"], from, (*MCP).readGateway)
}

// ReadMCPServers reads the part of the table that a client of the servers needs, without the
// tokens of the gateway's clients.
func ReadMCPServers(tables map[string]*tomltree.Value, from secret.Reader) (MCP, diag.List) {
	return readMCP(tables["mcp"], from, nil)
}

func readMCP(table *tomltree.Value, from secret.Reader, more func(*MCP, *tomltree.Settings, secret.Reader)) (MCP, diag.List) {
	m := MCP{Secrets: map[string]string{}}
	s := tomltree.Read(table, &m.Table)
	if s.Mistakes.HasErrors() || table == nil {
		return m, s.Mistakes
	}
	if more != nil {
		more(&m, s, from)
	}
	if e := s.Get("servers"); e != nil {
		for _, e := range e.Value.Entries {
			m.readServer(s, e, from)
		}
	}
	return m, s.Mistakes
}

func (m *MCP) readGateway(s *tomltree.Settings, from secret.Reader) {
	t := &m.Table
	word(s, "deny", t.Deny, "result", "error")
	word(s, "unknown_methods", t.UnknownMethods, "forward", "deny")
	tomltree.Positive(s, "hold", t.Hold)
	tomltree.Positive(s, "timeout", t.Timeout)
	m.Gateway = mcpgate.Settings{
		DenyAsError: t.Deny == "error", RefuseUnknown: t.UnknownMethods == "deny", Elicitation: t.Elicitation,
		ApprovalTimeout: t.Hold, Timeout: t.Timeout, Origins: t.Origins, Hosts: t.Hosts,
	}
	if e := s.Get("tokens"); e != nil {
		for _, e := range e.Value.Entries {
			m.Tokens = append(m.Tokens, mcpgate.Token{Name: stopgate.Principal(e.Key), Groups: groupsOf(s, e.Value, t.Tokens[e.Key].Groups), SHA256: t.Tokens[e.Key].hash(s, e, from)})
		}
	}
}

// word rejects a value that is not one of words; "" is none.
func word(s *tomltree.Settings, key, word string, words ...string) {
	if !slices.Contains(words, word) {
		s.Reject(key, fmt.Errorf("want %s, not %q", diag.OneOf(words), word))
	}
}

func (m *MCP) readServer(s *tomltree.Settings, e *tomltree.Entry, from secret.Reader) {
	t, at := m.Table.Servers[e.Key], e.Value
	if !mcpgate.ValidServerID(stopgate.ServerID(e.Key)) {
		s.Report(at, "%q names no server: want 1 to 32 of a-z, 0-9 and -", e.Key)
	}
	switch {
	case (len(t.Command) == 0) == (t.URL == ""):
		s.Report(at, "want one of command and url")
	case t.URL != "":
		if err := CheckServerURL(t.URL); err != nil {
			s.Report(at, "%v", err)
		}
	}
	if pins := at.Get("pins"); pins != nil {
		for _, pin := range pins.Value.Entries {
			if hash, err := hex.DecodeString(t.Pins[pin.Key]); err != nil || len(hash) != sha256.Size {
				s.Report(pin.Value, "want the hash of a definition, 64 digits as stopgate mcp pin list --format json prints them")
			}
		}
	}
	if t.TokenEnv != "" {
		text, err := from.Text(t.TokenEnv, "")
		if err != nil {
			s.Report(at, "%v", err)
		}
		m.Secrets[e.Key] = text
	}
}

// CheckServerURL returns an error for an invalid URL of a server.
func CheckServerURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("want http://HOST/... or https://HOST/... without a user, not %q", text)
	}
	return nil
}
