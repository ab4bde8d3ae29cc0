package gateway

import (
	"net/http"
	"strings"
)

// dropped are the headers of a request that never go upstream: hop-by-hop ones,
// those the gateway writes itself and those that tell the provider about the
// client's network (WIRE 9.2).
var dropped = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Http2-Settings": true, "Host": true, "Content-Length": true, "Content-Encoding": true,
	"Accept-Encoding": true, "Cookie": true, "Expect": true, "Forwarded": true, "Via": true, "X-Real-Ip": true, "Origin": true,
}

// droppedAnswer are the headers of an answer that do not reach the client. The
// length and the encoding are the gateway's; Alt-Svc would lead the client around
// the gate.
var droppedAnswer = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "Content-Encoding": true,
	"Set-Cookie": true, "Alt-Svc": true, "Location": true,
}

// ours reports whether a header belongs to the gate itself or names a forwarder.
func ours(name string) bool {
	return strings.HasPrefix(name, "X-Stopgate-") || strings.HasPrefix(name, "X-Forwarded-")
}

// requestHeader returns the headers for the upstream. Repeated values stay
// repeated.
func requestHeader(in http.Header) http.Header {
	out := make(http.Header, len(in)+2)
	named := namedInConnection(in)
	for name, values := range in {
		switch {
		case dropped[name] || ours(name) || named[name]:
		case name == "Idempotency-Key" || name == "X-Idempotency-Key":
			// The transport repeats a POST by itself if it finds this header under
			// its canonical name; a POST to a model is never repeated (WIRE 9.2).
			out[strings.ToLower(name)] = values
		default:
			out[name] = values
		}
	}
	out["Accept-Encoding"] = []string{"identity"}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // without it the transport names itself
	}
	return out
}

// answerHeader copies the headers of an upstream's answer to the client's.
func answerHeader(dst, in http.Header) {
	named := namedInConnection(in)
	for name, values := range in {
		if !droppedAnswer[name] && !ours(name) && !named[name] {
			dst[name] = values
		}
	}
}

// namedInConnection is the set of headers that Connection declares hop-by-hop.
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

// hasCredential reports whether a request carries a provider credential.
func hasCredential(h http.Header) bool {
	return h.Get("Authorization") != "" || h.Get("X-Api-Key") != "" || h.Get("Api-Key") != ""
}

func dropCredential(h http.Header) {
	h.Del("Authorization")
	h.Del("X-Api-Key")
	h.Del("Api-Key")
}
