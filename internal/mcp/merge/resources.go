package merge

import (
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxResources limits the number of resources and templates that are remembered.
const maxResources = 10_000

// Resources records which server listed which resources. The zero Resources is empty. It is safe
// for concurrent use.
type Resources[S any] struct {
	mu      sync.Mutex
	servers map[string]S // by URI, or by the start of a template and "*"
}

// Add records the resources and templates in a server's list.
func (r *Resources[S]) Add(result jsonstream.Value, server S) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range []string{"resources", "resourceTemplates"} {
		list, ok := result.Get(name)
		if !ok || list.Kind() != jsonstream.Array {
			continue
		}
		for one := range list.Elements() {
			uri := jsonrpc.TextOf(one, "uri")
			if template := jsonrpc.TextOf(one, "uriTemplate"); template != "" {
				start, _, _ := strings.Cut(template, "{")
				uri = start + "*"
			}
			if r.servers == nil {
				r.servers = map[string]S{}
			}
			if _, known := r.servers[uri]; !known && len(r.servers) < maxResources {
				r.servers[uri] = server
			}
		}
	}
}

// Server returns the server of a resource: the one that listed it, or the one with the longest
// template that is a prefix of the URI.
func (r *Resources[S]) Server(uri string) (server S, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if server, ok = r.servers[uri]; ok {
		return server, true
	}
	longest := -1
	for listed, s := range r.servers {
		prefix, isTemplate := strings.CutSuffix(listed, "*")
		if isTemplate && strings.HasPrefix(uri, prefix) && len(prefix) > longest {
			server, ok, longest = s, true, len(prefix)
		}
	}
	return server, ok
}
