package gateway

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// longestSaid limits a client's text in a log line.
const longestSaid = 128

// say logs an exchange that has ended: principal, upstream, outcomes of its calls and their
// reasons. It logs names as rows contain them, but no content and no name that a model generated:
// audit rows contain the tools.
//
//go:noinline
func (x *exchange) say() {
	codes := x.calls.codes(x.sum.codes)
	x.g.log.Info("exchange", "principal", string(x.principal), "agent", string(x.agent), "session", string(x.session),
		"dialect", x.dialect.Name(), "model", cut(x.req.Model), "upstream", x.upstream.ID, "upstream_status", x.heard,
		"calls", x.sum.calls+len(x.calls.list), "denied", x.sum.denied+x.calls.denied, "codes", strings.Join(codes, ","),
		"fault", string(x.fault), "enforced", x.enforced, "dropped", x.notes.Dropped, "usage_complete", !x.notes.UsageIncomplete, "usage_estimated", x.notes.UsageEstimated,
		"input_tokens", x.notes.Response.Tokens.Input, "output_tokens", x.notes.Response.Tokens.Output,
		"duration", time.Since(x.start).Round(time.Millisecond))
}

// codes appends the codes of denied calls to list, each once.
func (c *calls) codes(list []string) []string {
	for i := range c.list {
		held := &c.list[i]
		code := held.outcome.Verdict.Code
		switch {
		case held.resolved && held.outcome.Allowed():
			continue
		case held.resolved && code != "", held.pending == nil:
		default:
			code = held.pending.Verdict().Code
		}
		if code != "" && !slices.Contains(list, string(code)) {
			list = append(list, string(code))
		}
	}
	return list
}

// sayRefused logs a refused request. It includes the path only if no route matches and it cannot
// contain a token, and the host name only if it is not the gateway's.
func (g *Gateway) sayRefused(r *http.Request, no *refusal) {
	client := r.RemoteAddr
	if host, _, err := net.SplitHostPort(client); err == nil {
		client = host
	}
	path := ""
	if no.code == stopgate.CodeRouteUnknown && !strings.HasPrefix(r.URL.Path, "/k/") {
		path = cut(r.URL.Path)
	}
	g.log.Info("request refused", "client", client, "method", r.Method, "path", path, "code", string(no.code), "why", no.why, "status", no.status)
}

// cut truncates text to the limit of a log line.
func cut(text string) string {
	if len(text) <= longestSaid {
		return text
	}
	return strings.ToValidUTF8(text[:longestSaid], "") + "..."
}
