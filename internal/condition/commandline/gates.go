package commandline

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/weburl"
)

// gates are the ports of this machine on which gates listen, in addition to [usualGates], between
// blanks. An agent must not answer its own questions there.
type gates string

// usualGates are the ports that the documentation uses for the gateway, the decision API, MCP
// servers and metrics.
var usualGates = []string{"8788", "8789", "8790", "9464"}

// apart reports whether a word is an http URL of this machine, and not of a gate, to every program
// that reads it: it has no escapes, expansions or separators, and no user before the host.
func (g gates) apart(w *shell.Word) bool {
	if !w.Literal {
		return false
	}
	text := string(w.Text)
	scheme, rest, given := strings.Cut(text, "://")
	if !given {
		scheme, rest = "http", text
	}
	authority, path, _ := strings.Cut(rest, "/")
	host, port, _ := strings.Cut(authority, ":")
	switch {
	case scheme != "http" && scheme != "https", host != "localhost" && host != "127.0.0.1":
		return false
	case len(authority) > len(host) && !weburl.IsPort([]byte(port)), slices.Contains(usualGates, port):
		return false
	}
	for gate := range strings.FieldsSeq(string(g)) {
		if port == gate || port == "" && (gate == "80" || gate == "443") {
			return false
		}
	}
	for _, c := range path {
		if ('a' > c || c > 'z') && ('A' > c || c > 'Z') && ('0' > c || c > '9') && !strings.ContainsRune("-._~/%?=&+,:;", c) {
			return false
		}
	}
	return true
}
