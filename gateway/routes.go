package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
)

// treatment determines how requests of a route are handled. The zero value refuses them.
type treatment uint8

const (
	refused treatment = iota
	gated             // judged
	passed            // forwarded: responses cannot contain a call
	counted           // forwarded: requests contain a conversation
	passedUnjudged
	health
	ready
)

// route is one entry of the routing table. A segment in braces matches any one segment.
type route struct {
	method   string
	segments []string
	api      string // selects the upstream: "openai", "anthropic", or "" to select by headers
	how      treatment
}

// builtinRoutes returns the built-in routes. All other paths are 404.
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

// parseRoutes parses [gateway] passthrough: "METHOD /path/{name}".
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

// find returns the route of a request, or nil. It matches only canonical paths, without escapes,
// empty and dot segments, so that the upstream cannot interpret the path differently.
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

// unserved returns the message for a request without a route: the routes for tool calls, and a hint
// if the base URL looks wrong. It contains no part of the request.
func unserved(routes []route, r *http.Request) string {
	var judged []string
	hint := ""
	for i := range routes {
		path := "/" + strings.Join(routes[i].segments, "/")
		if routes[i].how == gated {
			judged = append(judged, path)
		}
		switch rest := strings.TrimPrefix(path, "/v1"); {
		case rest == path: // of a probe, or of passthrough
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

// plainSegment reports whether a path segment has only one interpretation.
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
