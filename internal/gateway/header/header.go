// Package header filters the headers of requests to providers and of their responses, and removes the
// gateway's own tokens from requests.
//
//	out := header.Request(r.Header)         // for the upstream
//	header.Answer(w.Header(), answer.Header) // for the client
package header

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/registry"
)

// dropped are the request headers that are never sent upstream: hop-by-hop headers, those that the
// gateway writes itself, those that reveal the client's network, those that could change the
// request that was judged (F17), and those that request a part of a response.
var dropped = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Http2-Settings": true, "Host": true, "Content-Length": true, "Content-Encoding": true,
	"Accept-Encoding": true, "Cookie": true, "Expect": true, "Forwarded": true, "Via": true, "X-Real-Ip": true, "Origin": true,
	"Referer": true, "True-Client-Ip": true, "Cf-Connecting-Ip": true, "Fastly-Client-Ip": true, "X-Client-Ip": true, "X-Cluster-Client-Ip": true,
	"X-Http-Method": true, "X-Http-Method-Override": true, "X-Method-Override": true, "X-Original-Url": true, "X-Rewrite-Url": true,
	"X-Original-Host": true, "X-Original-Method": true, "X-Envoy-Original-Path": true, "X-Host": true,
	"Range": true, "If-Range": true, "If-Match": true, "If-None-Match": true, "If-Modified-Since": true, "If-Unmodified-Since": true,
}

// droppedAnswer are the response headers that are never sent to the client. The gateway sets length
// and encoding, which invalidates digests; Alt-Svc and Refresh would lead clients around the
// gateway. Providers must not control a server in front of the gateway (X-Accel-Redirect and
// similar) or a browser's state for this host.
var droppedAnswer = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "Content-Encoding": true,
	"Set-Cookie": true, "Alt-Svc": true, "Location": true, "Refresh": true, "Content-Location": true,
	"Clear-Site-Data": true, "Strict-Transport-Security": true, "Public-Key-Pins": true, "Content-Md5": true, "Digest": true, "Content-Digest": true,
	"Repr-Digest": true, "Etag": true, "Accept-Ranges": true, "Content-Range": true,
	"X-Sendfile": true, "X-Lighttpd-Send-File": true, "X-Reproxy-Url": true, "X-Reproxy-File": true,
}

// isGatewayHeader reports whether a header belongs to the gateway or identifies a proxy.
func isGatewayHeader(name string) bool {
	return strings.HasPrefix(name, "X-Stopgate-") || strings.HasPrefix(name, "X-Forwarded-")
}

// Request returns the headers for the upstream. Repeated values stay repeated.
func Request(in http.Header) http.Header {
	out := make(http.Header, len(in)+2)
	named := namedInConnection(in)
	for name, values := range in {
		switch {
		case dropped[name] || isGatewayHeader(name) || named[name]:
		case name == "Idempotency-Key" || name == "X-Idempotency-Key":
			// The transport retries a POST if it finds this header under its canonical name; a POST
			// to a model must never be repeated.
			out[strings.ToLower(name)] = values
		default:
			out[name] = values
		}
	}
	TakeTokens(out, nil) // even if this gateway requires none: providers have no use for them
	out["Accept-Encoding"] = []string{"identity"}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // otherwise the transport adds its own
	}
	return out
}

// Answer copies the headers of an upstream's response to the client's.
func Answer(dst, in http.Header) {
	named := namedInConnection(in)
	for name, values := range in {
		if !droppedAnswer[name] && !isGatewayHeader(name) && !named[name] && !strings.HasPrefix(name, "X-Accel-") {
			dst[name] = values
		}
	}
}

// namedInConnection returns the headers that Connection declares hop-by-hop.
func namedInConnection(h http.Header) map[string]bool {
	var named map[string]bool
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if named == nil {
				named = map[string]bool{}
			}
			named[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	return named
}

// tokenPrefix identifies a gate token in a header for a provider's key (S46).
const tokenPrefix = "sg_"

// TakeTokens removes gate tokens from the headers for a provider's key and returns them: those with the
// prefix, and others for which issued returns true. issued may be nil.
func TakeTokens(h http.Header, issued func(token string) bool) (tokens []string) {
	for _, name := range registry.KeyHeaders() {
		var others []string
		before := len(tokens)
		for _, value := range h[name] {
			token := value
			if scheme, rest, ok := strings.Cut(value, " "); ok && name == "Authorization" && strings.EqualFold(scheme, "Bearer") {
				token = rest
			}
			if token = strings.TrimSpace(token); strings.HasPrefix(token, tokenPrefix) || issued != nil && issued(token) {
				tokens = append(tokens, token)
			} else {
				others = append(others, value)
			}
		}
		switch {
		case len(tokens) == before:
		case len(others) == 0:
			delete(h, name)
		default:
			h[name] = others
		}
	}
	return tokens
}

// HasCredential reports whether a request contains a provider credential.
func HasCredential(r *http.Request) bool {
	return slices.ContainsFunc(registry.KeyHeaders(), func(name string) bool { return r.Header.Get(name) != "" }) ||
		r.URL.RawQuery != "" && slices.ContainsFunc(registry.KeyParameters(), func(name string) bool { return r.URL.Query().Get(name) != "" })
}

// editKeys removes the parameters with a key for which remove returns true from a query. The rest
// stays as it is.
func editKeys(query string, remove func(key string) bool) string {
	if query == "" {
		return ""
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err != nil || err2 != nil || !slices.Contains(registry.KeyParameters(), name) || !remove(value) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// RemoveKeys removes the parameters for a provider's key from a query.
func RemoveKeys(query string) string { return editKeys(query, func(string) bool { return true }) }

// QueryTokens removes gate tokens from the parameters for a provider's key and returns them.
func QueryTokens(u *url.URL) (tokens []string) {
	u.RawQuery = editKeys(u.RawQuery, func(key string) bool {
		is := strings.HasPrefix(key, tokenPrefix)
		if is {
			tokens = append(tokens, key)
		}
		return is
	})
	return tokens
}

// DropCredential removes the headers for a provider's key.
func DropCredential(h http.Header) {
	for _, name := range registry.KeyHeaders() {
		h.Del(name)
	}
}
