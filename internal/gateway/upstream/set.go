package upstream

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/jsonstream"
)

// Set holds the upstreams of one configuration.
type Set struct {
	Replay *Server // serves scripts and recordings, or nil
	all    []*Server
	models []modelRoute       // most specific first
	others map[string]*Server // by API: the upstream of all other models
}

// modelRoute maps a model pattern to an upstream.
type modelRoute struct {
	api, pattern string
	to           *Server
}

// OpenSet validates the configured upstreams and adds the defaults. base are the timeouts where an
// upstream has none. guarded reports whether clients need a token. Unchanged upstreams keep the
// connections of the previous set, which may be nil.
func OpenSet(configured []Options, base Timeouts, guarded bool, before *Set) (*Set, error) {
	list := &Set{others: map[string]*Server{}}
	ids := map[string]bool{}
	for _, u := range configured {
		served := apis(u.API)
		switch {
		case served == nil:
			return nil, fmt.Errorf("gateway: upstream %s: unknown API %q: want %s", u.ID, u.API, strings.Join(registry.VendorNames(), " or "))
		case !stopgate.ValidToolName(stopgate.ToolName(u.ID)):
			return nil, fmt.Errorf("gateway: upstream id %q: want 1 to 128 letters, digits and . _ : -", u.ID)
		case u.Key != "" && !guarded:
			return nil, fmt.Errorf("gateway: upstream %s has a key, which any local program could then spend: set a token", u.ID)
		}
		up, err := list.open(u, base, before)
		if err != nil {
			return nil, err
		}
		for _, api := range served {
			if other := list.add(api, up); other != nil {
				return nil, fmt.Errorf("gateway: upstreams %s and %s both serve the API %s%s", other.ID, u.ID, api, forModels(u))
			}
		}
		if ids[u.ID] {
			return nil, fmt.Errorf("gateway: two upstreams have the id %s", u.ID)
		}
		ids[u.ID] = true
	}
	for _, vendor := range registry.Vendors() {
		api, id := vendor.Name, vendor.Name
		if list.others[api] != nil {
			continue
		}
		for ids[id] {
			id += "_public"
		}
		up, err := list.open(Options{ID: id, API: api, BaseURL: vendor.BaseURL}, base, before)
		if err != nil {
			return nil, err
		}
		up.byDefault = true
		list.others[api] = up
	}
	slices.SortStableFunc(list.models, func(a, b modelRoute) int { return specific(b.pattern) - specific(a.pattern) })
	return list, nil
}

func forModels(u Options) string {
	if len(u.Models) == 0 {
		return ""
	}
	return " for one of the models " + strings.Join(u.Models, ", ")
}

// open opens an upstream, or reuses the one of the previous configuration.
func (l *Set) open(u Options, base Timeouts, before *Set) (*Server, error) {
	up, err := Open(u, base)
	if err != nil {
		return nil, err
	}
	if before != nil && up.pool != nil {
		for _, old := range before.all {
			if old.pool != nil && old.samePool(up) {
				up.pool, up.Transport = old.pool, old.pool
			}
		}
	}
	l.all = append(l.all, up)
	return up, nil
}

// samePool reports whether two upstreams can share connections.
func (u *Server) samePool(other *Server) bool {
	return u.ID == other.ID && u.base.Scheme == other.base.Scheme && u.base.Host == other.base.Host &&
		u.Connections == other.Connections && u.Authorities == other.Authorities && u.Timeouts.Connect == other.Timeouts.Connect
}

// add registers an upstream for one API. It returns the upstream that already serves the same
// models, if any.
func (l *Set) add(api string, u *Server) (taken *Server) {
	if len(u.Models) == 0 {
		taken, l.others[api] = l.others[api], u
		return taken
	}
	for _, pattern := range u.Models {
		for _, r := range l.models {
			if r.api == api && r.pattern == pattern {
				return r.to
			}
		}
		l.models = append(l.models, modelRoute{api, pattern, u})
	}
	return nil
}

// specific orders patterns: names without a star first, then by the length before the first star.
func specific(pattern string) int {
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		return 1 << 30
	}
	return star
}

// matchesModel reports whether a pattern matches a model's name.
func matchesModel(pattern, model string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(model, parts[0])
	if len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// serving returns the upstream of a model.
func (l *Set) serving(api, model string) *Server {
	if model != "" {
		for _, r := range l.models {
			if r.api == api && matchesModel(r.pattern, model) {
				return r.to
			}
		}
	}
	return l.others[api]
}

// ModelOf extracts the model from a request that is otherwise forwarded without parsing, if the
// model selects the upstream. It returns "" for an ambiguous body.
func (l *Set) ModelOf(body []byte) string {
	if len(l.models) == 0 || len(body) == 0 {
		return ""
	}
	root, err := jsonstream.Parse(body, jsonstream.Options{})
	if err != nil {
		return ""
	}
	model, _ := root.Get("model")
	if model.Kind() != jsonstream.String {
		return ""
	}
	return model.Text()
}

// Choose selects the upstream of a request (S45): replay only for replay models, and for requests
// without a credential to an upstream that is not configured.
func (l *Set) Choose(api, model string, r *http.Request) *Server {
	if api == "" {
		api = registry.VendorOf(r.Header).Name
	}
	up := l.serving(api, model)
	if l.Replay != nil && (strings.HasPrefix(model, "stopgate-") || up.byDefault && !header.HasCredential(r)) {
		return l.Replay
	}
	return up
}

// CloseIdle closes idle connections, except those shared with kept, which may be nil.
func (l *Set) CloseIdle(kept *Set) {
	for _, u := range l.all {
		if u.pool != nil && (kept == nil || !slices.ContainsFunc(kept.all, func(k *Server) bool { return k.pool == u.pool })) {
			u.pool.CloseIdleConnections()
		}
	}
}
