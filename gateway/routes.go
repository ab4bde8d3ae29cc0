package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
)

// treatment is what happens to the requests of a route. The zero value refuses.
type treatment uint8

const (
	refused treatment = iota
	gated             // judged
	passed            // forwarded: its answers cannot carry a call
	counted           // the same, for requests that hold a conversation
	passedUnjudged
	health
	ready
)

// route is one line of the routing table. Segments in braces stand for any one
// segment.
type route struct {
	method   string
	segments []string
	api      string // which upstreams serve it: "openai", "anthropic", "" by the headers
	how      treatment
}

// builtinRoutes are the routes of WIRE 0.4. Everything else is 404.
func builtinRoutes() []route {
	return []route{
		newRoute("POST", chatPath, "openai", gated),
		newRoute("POST", responsesPath, "openai", gated),
		newRoute("POST", messagesPath, "anthropic", gated),
		newRoute("POST", "/v1/messages/count_tokens", "anthropic", counted),
		newRoute("POST", "/v1/responses/input_tokens", "openai", counted),
		newRoute("POST", "/v1/responses/compact", "openai", counted),
		newRoute("POST", "/v1/embeddings", "openai", passed),
		newRoute("GET", "/v1/models", "", passed),
		newRoute("GET", "/v1/models/{id}", "", passed),
		newRoute("GET", "/healthz", "", health),
		newRoute("GET", "/readyz", "", ready),
	}
}

func newRoute(method, path, api string, how treatment) route {
	return route{method: method, segments: strings.Split(path[1:], "/"), api: api, how: how}
}

// parseRoutes reads [gateway] passthrough: "METHOD /path/{name}".
func parseRoutes(templates []string) ([]route, error) {
	var list []route
	for _, t := range templates {
		method, path, ok := strings.Cut(t, " ")
		if !ok || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " ?#%*") {
			return nil, fmt.Errorf("gateway: passthrough route %q: want \"METHOD /path/{name}\"", t)
		}
		switch method {
		case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE":
		default:
			return nil, fmt.Errorf("gateway: passthrough route %q: unknown method", t)
		}
		for _, r := range builtinRoutes() {
			if r.how == gated && r.matches(method, path) {
				return nil, fmt.Errorf("gateway: passthrough route %q: this route is gated", t)
			}
		}
		list = append(list, newRoute(method, path, "", passedUnjudged))
	}
	return list, nil
}

// find returns the route of a request, nil for none. Only a path in its plain spelling has one:
// no escapes, no empty and no dot segments, so that the upstream cannot read
// another path than the one that was matched.
func find(routes []route, r *http.Request) *route {
	if r.URL.RawPath != "" || !strings.HasPrefix(r.URL.Path, "/") {
		return nil
	}
	for i := range routes {
		if routes[i].matches(r.Method, r.URL.Path) {
			return &routes[i]
		}
	}
	return nil
}

// unserved tells who came in by no route which there are for tool calls, and what is
// wrong with the base URL where that can be seen. It repeats nothing of the request.
func unserved(routes []route, r *http.Request) string {
	var judged []string
	hint := ""
	for i := range routes {
		path := "/" + strings.Join(routes[i].segments, "/")
		if routes[i].how == gated {
			judged = append(judged, path)
		}
		switch rest := strings.TrimPrefix(path, "/v1"); {
		case rest == path: // of a probe, or added by passthrough
		case r.URL.Path == path && routes[i].how == gated:
			hint = " This one takes POST only."
		case r.URL.Path == "/v1"+path:
			hint = " This client wants a base URL without /v1."
		case r.URL.Path == rest:
			hint = " This client wants a base URL that ends in /v1."
		}
	}
	last := len(judged) - 1
	return stopgate.CodeRouteUnknown.Public() + " Tool calls are judged at POST " + strings.Join(judged[:last], ", ") + " and " + judged[last] +
		"; [gateway] passthrough opens others." + hint
}

func (r *route) matches(method, path string) bool {
	if method != r.method {
		return false
	}
	rest := path[1:]
	for i, want := range r.segments {
		got, after, more := strings.Cut(rest, "/")
		if more != (i+1 < len(r.segments)) {
			return false
		}
		if strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}") {
			if !plainSegment(got) {
				return false
			}
		} else if got != want {
			return false
		}
		rest = after
	}
	return true
}

// plainSegment reports whether a path segment means the same to every reader.
func plainSegment(s string) bool {
	if s == "" || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`\%;?#"<>^{}|`+"`", c) >= 0 {
			return false
		}
	}
	return true
}
