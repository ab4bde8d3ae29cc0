package gateway

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// maxLogText limits a client's text in a log line.
const maxLogText = 128

// logExchange logs an exchange that has ended: principal, upstream, outcomes of its calls and their
// reasons. It logs names as rows contain them, but no content and no name that a model generated:
// audit rows contain the tools.
//
//go:noinline
func (x *exchange) logExchange() {
	codes := x.calls.Codes(x.sum.codes)
	x.g.log.Info("exchange", "principal", string(x.principal), "agent", string(x.agent), "session", string(x.session),
		"dialect", x.dialect.Name(), "model", truncate(x.req.Model), "upstream", x.upstream.ID, "upstream_status", x.provider.status,
		"calls", x.sum.calls+len(x.calls.List), "denied", x.sum.denied+x.calls.Denied, "codes", strings.Join(codes, ","),
		"fault", string(x.fault), "enforced", x.enforced, "dropped", x.notes.Dropped, "usage_complete", !x.notes.UsageIncomplete, "usage_estimated", x.notes.UsageEstimated,
		"input_tokens", x.notes.Response.Tokens.Input, "output_tokens", x.notes.Response.Tokens.Output,
		"duration", time.Since(x.start).Round(time.Millisecond))
}

// logRefused logs a refused request. It includes the path only if no route matches and it cannot
// contain a token, and the host name only if it is not the gateway's.
func (g *Gateway) logRefused(r *http.Request, no *refusal) {
	client := r.RemoteAddr
	if host, _, err := net.SplitHostPort(client); err == nil {
		client = host
	}
	path := ""
	if no.code == stopgate.CodeRouteUnknown && !strings.HasPrefix(r.URL.Path, "/k/") {
		path = truncate(r.URL.Path)
	}
	g.log.Info("request refused", "client", client, "method", r.Method, "path", path, "code", string(no.code), "why", no.why, "status", no.status)
}

// truncate truncates text to the limit of a log line.
func truncate(text string) string {
	if len(text) <= maxLogText {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogText], "") + "..."
}
