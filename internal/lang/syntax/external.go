package syntax

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
)

// The hooks of external policies that decide about calls.
const (
	HookGate    = "gate"    // deterministic gates of calls (G2-03)
	HookHandoff = "handoff" // and of handoffs
	HookSession = "session" // session policies (TPS-06)
	HookJudge   = "judge"   // judges: they only tighten (V3-19)
)

// EventHooks are the hooks of external policies in exchanges of the LLM gateway (V3-10).
var EventHooks = []string{
	"request", "response", "stream_start", "content_delta", "content_complete", "tool_call_delta", "tool_call_complete", "finish_reason", "stream_complete",
}

// ExternalHooks returns all hooks of external policies.
func ExternalHooks() []string {
	return append([]string{HookGate, HookHandoff, HookSession, HookJudge}, EventHooks...)
}

// External is one [[external]] table: a service that decides. Evaluations do not use it;
// enforcement points get it from policy.Program.
type External struct {
	Name      string
	URL       string
	Tools     []string // names and globs of the tools whose calls the service is asked about
	Hooks     []string // in the order of ExternalHooks
	TokenEnv  string   // environment variable with the token
	TokenFile string   // file with the token
	Timeout   int64    // milliseconds for one answer
	OnError   stopgate.Mode
	File      string
	Pos       diag.Range
}

// Governs reports whether the service is asked about calls of a tool.
func (e *External) Governs(tool stopgate.ToolName) bool { return MatchesAny(e.Tools, string(tool)) }

// Has reports whether the table names a hook.
func (e *External) Has(hook string) bool { return slices.Contains(e.Hooks, hook) }

// Calls reports whether the service decides about calls of tools, and not only about texts of
// exchanges.
func (e *External) Calls() bool { return e.Has(HookGate) || e.Has(HookSession) || e.Has(HookJudge) }

// Meaning returns the keys that affect verdicts on one line. The address and the credentials are
// not part of it: another service of the same name and version decides alike.
func (e *External) Meaning() string {
	tools := slices.Clone(e.Tools)
	slices.Sort(tools)
	return fmt.Sprintf("%q %s hooks=%s on_error=%s", e.Name, strings.Join(tools, " "), strings.Join(e.Hooks, ","), e.OnError)
}

// ExternalURL parses the URL of an external policy. socket is the path of a Unix socket, "" for
// the other URLs.
func ExternalURL(text string) (u *url.URL, socket string, err error) {
	u, err = url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return nil, "", fmt.Errorf("want unix:///PATH or https://HOST/PATH, without user, query and fragment")
	}
	switch {
	case u.Scheme == "unix" && u.Host == "" && path.IsAbs(u.Path) && path.Clean(u.Path) == u.Path && u.Path != "/":
		return u, u.Path, nil
	case u.Scheme == "unix":
		return nil, "", fmt.Errorf("want unix:///PATH with the absolute path of a socket")
	case u.Scheme == "https" && u.Hostname() != "", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, "", nil
	case u.Scheme == "http":
		return nil, "", fmt.Errorf("http only reaches this machine: want https://, or 127.0.0.1 as the host")
	}
	return nil, "", fmt.Errorf("want unix:///PATH or https://HOST/PATH")
}

// isLoopback reports whether a host is this machine by its number. Names can be given another
// number.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
