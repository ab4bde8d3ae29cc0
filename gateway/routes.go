package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
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

// route is one entry of the routing table.
type route struct {
	provider.Route
	vendor string        // selects the upstream, or "" to select by headers
	api    *registry.API // nil for routes that belong to no API
	how    treatment
}

// treatments are the treatments of the routes of providers.
var treatments = map[provider.RouteKind]treatment{provider.Turn: gated, provider.Counted: counted, provider.Passed: passed}

// builtinRoutes returns the built-in routes. All other paths are 404.
func builtinRoutes() (list []route) {
	add := func(vendor string, api *registry.API, routes []provider.Route) {
		for _, r := range routes {
			list = append(list, route{Route: r, vendor: vendor, api: api, how: treatments[r.Kind]})
		}
	}
	for _, api := range registry.All() {
		add(api.Vendor.Name, api, api.Routes)
	}
	for _, v := range registry.Vendors() {
		add(v.Name, nil, v.Routes)
	}
	return append(list,
		newRoute("GET", "/v1/models", passed),
		newRoute("GET", "/v1/models/{id}", passed),
		newRoute("GET", "/healthz", health),
		newRoute("GET", "/readyz", ready),
	)
}

func newRoute(method, path string, how treatment) route {
	return route{Route: provider.Route{Method: method, Path: path}, how: how}
}

// CheckRoute reports whether a route of [gateway] passthrough is valid.
func CheckRoute(template string) error {
	_, err := parseRoutes([]string{template})
	return err
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
			if r.how == gated && r.Matches(method, path) {
				return nil, fmt.Errorf("gateway: passthrough route %q: this route is gated", t)
			}
		}
		list = append(list, newRoute(method, path, passedUnjudged))
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
		if routes[i].Matches(r.Method, r.URL.Path) {
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
		path := routes[i].Path
		if api := routes[i].api; routes[i].how == gated && path == api.Routes[0].Path {
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
