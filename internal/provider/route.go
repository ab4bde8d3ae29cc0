package provider

import "strings"

// RouteKind is the treatment of a route. The zero value is no treatment.
type RouteKind uint8

// The treatments of routes.
const (
	_       RouteKind = iota
	Turn              // a request with a conversation; its response can contain calls
	Counted           // a request with a conversation; its response contains no call
	Passed            // neither the request nor the response contains a call
)

// Route is one route of an API.
type Route struct {
	Method string
	// Path is the path. A segment, or its start, in braces matches any text without a slash:
	// /v1beta/models/{model}:generateContent
	Path string
	Kind RouteKind
}

// Matches reports whether a request belongs to the route.
func (r Route) Matches(method, path string) bool {
	return method == r.Method && MatchPath(r.Path, path)
}

// MatchPath reports whether a path matches a pattern; see [Route].
func MatchPath(pattern, path string) bool {
	for {
		want, wants, moreWanted := strings.Cut(pattern, "/")
		got, rest, more := strings.Cut(path, "/")
		if more != moreWanted || !matchSegment(want, got) {
			return false
		}
		if !more {
			return true
		}
		pattern, path = wants, rest
	}
}

func matchSegment(want, got string) bool {
	end := strings.IndexByte(want, '}')
	if end < 0 || want[0] != '{' {
		return got == want
	}
	text, ok := strings.CutSuffix(got, want[end+1:])
	return ok && plainSegment(text) && (want[end+1:] == "" || !strings.Contains(text, ":"))
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
