package serve

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// allowedOrigin reports whether the Host and Origin headers are accepted. Unknown hosts are
// refused to prevent DNS rebinding (CVE-2025-66414), unknown origins so that web pages
// cannot use the gateway.
func (h *Handler) allowedOrigin(r *http.Request) bool {
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

// credential returns the token of a request, and its path without the token. If the header
// and the path contain different tokens, neither is used (G10).
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

// bearerOf returns the token in the Authorization header. known is false if the header is
// repeated or its token is empty. Another scheme counts as no token: it may be the password
// for a proxy.
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
