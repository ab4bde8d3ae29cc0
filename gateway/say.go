package gateway

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// longestSaid is how much of a client's word stands in a line of the log.
const longestSaid = 128

// say writes the line of an exchange that is over: whose it was, where it went, what
// became of its calls, and why. Names stand in it as they do in rows, never content, and
// no name that a model wrote: the records have the tools.
//
//go:noinline
func (x *exchange) say() {
	codes := x.calls.codes(x.sum.codes)
	x.g.log.Info("exchange", "principal", string(x.principal), "agent", string(x.agent), "session", string(x.session),
		"dialect", x.dialect.Name(), "model", cut(x.req.Model), "upstream", x.upstream.ID, "upstream_status", x.heard,
		"calls", x.sum.calls+len(x.calls.list), "denied", x.sum.denied+x.calls.denied, "codes", strings.Join(codes, ","),
		"fault", string(x.fault), "enforced", x.enforced, "dropped", x.notes.Dropped, "usage_complete", !x.notes.UsageIncomplete, "usage_estimated", x.notes.UsageEstimated,
		"input_tokens", x.notes.Answer.Tokens.Input, "output_tokens", x.notes.Answer.Tokens.Output,
		"duration", time.Since(x.start).Round(time.Millisecond))
}

// codes adds to list why calls did not run, each reason once.
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

// sayRefused writes the line of a request that was not let in. What a client wrote into
// the path stands in it only where no route has it and no token can be in it; of a name
// that is not the gate's it is said which.
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

// cut is a text that is no longer than a line of the log bears.
func cut(text string) string {
	if len(text) <= longestSaid {
		return text
	}
	return strings.ToValidUTF8(text[:longestSaid], "") + "..."
}
