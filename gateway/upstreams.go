package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/jsonstream"
)

// upstreams are the providers of one configuration.
type upstreams struct {
	all    []*upstream
	models []modelRoute         // most specific first
	others map[string]*upstream // by API: the upstream of all other models
}

// modelRoute maps a model pattern to an upstream.
type modelRoute struct {
	api, pattern string
	to           *upstream
}

// openUpstreams validates the configured upstreams and adds the defaults. guarded reports whether
// clients need a token. Unchanged upstreams keep the connections of the previous configuration.
func openUpstreams(o *Options, guarded bool, before *configuration) (upstreams, error) {
	list := upstreams{others: map[string]*upstream{}}
	ids := map[string]bool{}
	for _, u := range o.Upstreams {
		served := apis(u.API)
		switch {
		case served == nil:
			return list, fmt.Errorf("gateway: upstream %s: unknown API %q: want %s", u.ID, u.API, strings.Join(registry.VendorNames(), " or "))
		case !validName(u.ID):
			return list, fmt.Errorf("gateway: upstream id %q: want 1 to 128 letters, digits and . _ : -", u.ID)
		case u.Key != "" && !guarded:
			return list, fmt.Errorf("gateway: upstream %s has a key, which any local program could then spend: set a token", u.ID)
		}
		up, err := list.open(u, o.Settings.Timeouts, before)
		if err != nil {
			return list, err
		}
		for _, api := range served {
			if other := list.add(api, up); other != nil {
				return list, fmt.Errorf("gateway: upstreams %s and %s both serve the API %s%s", other.ID, u.ID, api, forModels(u))
			}
		}
		if ids[u.ID] {
			return list, fmt.Errorf("gateway: two upstreams have the id %s", u.ID)
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
		up, err := list.open(Upstream{ID: id, API: api, BaseURL: vendor.BaseURL}, o.Settings.Timeouts, before)
		if err != nil {
			return list, err
		}
		up.byDefault = true
		list.others[api] = up
	}
	slices.SortStableFunc(list.models, func(a, b modelRoute) int { return specific(b.pattern) - specific(a.pattern) })
	return list, nil
}

func forModels(u Upstream) string {
	if len(u.Models) == 0 {
		return ""
	}
	return " for one of the models " + strings.Join(u.Models, ", ")
}

// open opens an upstream, or reuses the one of the previous configuration.
func (l *upstreams) open(u Upstream, t Timeouts, before *configuration) (*upstream, error) {
	up, err := openUpstream(u, t)
	if err != nil {
		return nil, err
	}
	if before != nil && up.pool != nil {
		for _, old := range before.upstreams.all {
			if old.pool != nil && old.samePool(up) {
				up.pool, up.Transport = old.pool, old.pool
			}
		}
	}
	l.all = append(l.all, up)
	return up, nil
}

// samePool reports whether two upstreams can share connections.
func (u *upstream) samePool(other *upstream) bool {
	return u.ID == other.ID && u.base.Scheme == other.base.Scheme && u.base.Host == other.base.Host &&
		u.Connections == other.Connections && u.Authorities == other.Authorities && u.Timeouts.Connect == other.Timeouts.Connect
}

// add registers an upstream for one API. It returns the upstream that already serves the same
// models, if any.
func (l *upstreams) add(api string, u *upstream) (taken *upstream) {
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
func (l *upstreams) serving(api, model string) *upstream {
	if model != "" {
		for _, r := range l.models {
			if r.api == api && matchesModel(r.pattern, model) {
				return r.to
			}
		}
	}
	return l.others[api]
}

// modelOf extracts the model from a request that is otherwise forwarded without parsing, if the
// model selects the upstream. It returns "" for an ambiguous body.
func (c *configuration) modelOf(body []byte) string {
	if len(c.upstreams.models) == 0 || len(body) == 0 {
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

// choose selects the upstream of a request (S45): replay only for replay models, and for requests
// without a credential to an upstream that is not configured.
func (c *configuration) choose(api, model string, r *http.Request) *upstream {
	if api == "" {
		api = registry.VendorOf(r.Header).Name
	}
	up := c.upstreams.serving(api, model)
	if c.replay != nil && (strings.HasPrefix(model, "stopgate-") || up.byDefault && !hasCredential(r)) {
		return c.replay
	}
	return up
}

// closeIdle closes idle connections, except those shared with kept.
func (l upstreams) closeIdle(kept upstreams) {
	for _, u := range l.all {
		if u.pool != nil && !slices.ContainsFunc(kept.all, func(k *upstream) bool { return k.pool == u.pool }) {
			u.pool.CloseIdleConnections()
		}
	}
}
