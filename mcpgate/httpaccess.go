package mcpgate

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// expected reports whether a request may come from where it says it comes from: a page
// of a browser is let in only if its origin is known, and under names that are ours, so
// that no name can be bound to us (CVE-2025-66414).
func (h *Handler) expected(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	bare := host
	if name, _, err := net.SplitHostPort(host); err == nil {
		bare = name
	}
	if !h.hosts[host] && !h.hosts[strings.Trim(bare, "[]")] {
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 || h.origins[strings.ToLower(origins[0])] {
		return len(origins) == 1
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// credential is the token of a request, and its path without it. Of two tokens that
// differ neither counts: whose request it is would be a guess (G10).
func credential(r *http.Request) (path, token string) {
	path = r.URL.Path
	token, known := bearerOf(r)
	if rest, ok := strings.CutPrefix(path, "/k/"); ok {
		inPath, rest, _ := strings.Cut(rest, "/")
		if !known || token != "" && token != inPath {
			inPath = ""
		}
		return "/" + rest, inPath
	}
	return path, token
}

// bearerOf is the token in the one Authorization header of a request; not known, where
// it is not plainly one. What has another scheme is none: it may be the password for a
// proxy in front of the gate.
func bearerOf(r *http.Request) (token string, known bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", len(values) == 0
	}
	scheme, given, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	token = strings.TrimSpace(given)
	return token, token != ""
}
