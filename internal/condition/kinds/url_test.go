package kinds_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
)

// Proves K59, K0c.
func TestURLHost(t *testing.T) {
	for _, c := range []struct {
		name, literal, value string
		grant, catch         bool
	}{
		{"exact", "example.com", "https://example.com/a?b#c", true, true},
		{"no path", "example.com", "https://example.com", true, true},
		{"upper case", "example.com", "HTTPS://Example.COM/", true, true},
		{"default port", "example.com", "https://example.com:443/", true, true},
		{"another port", "example.com", "https://example.com:8443/", false, true},
		{"named port", "example.com:8443", "https://example.com:8443/", true, true},
		{"named port missing", "example.com:8443", "https://example.com/", false, false},
		{"named default port", "example.com:443", "https://example.com/", true, true},
		{"any port", "example.com:*", "https://example.com:8443/", true, true},
		{"another host", "example.com", "https://example.org/", false, false},
		{"longer name", "example.com", "https://example.com.evil.org/", false, false},
		{"subdomain of an exact name", "example.com", "https://a.example.com/", false, false},
		{"subdomain", "*.example.com", "https://a.b.example.com/", true, true},
		{"apex of a wildcard", "*.example.com", "https://example.com/", false, false},
		{"name that ends alike", "*.example.com", "https://evilexample.com/", false, false},
		{"empty label", "*.example.com", "https://.example.com/", false, false},
		{"user", "example.com", "https://user@example.com/", false, true},
		{"host as user", "example.com", "https://example.com@evil.org/", false, true},
		{"two users", "evil.org", "https://a@example.com@evil.org/", false, true},
		{"user behind a question mark", "evil.org", "https://example.com?@evil.org/", false, true},
		{"query without a path", "example.com", "https://example.com?x=1", true, true},
		{"backslash", "example.com", `https://evil.org\@example.com/`, false, true},
		{"backslash, the other reader", "evil.org", `https://evil.org\@example.com/`, false, true},
		{"control character", "example.com", "https://exam\tple.com/", false, true},
		{"newline in the scheme", "example.com", "ht\ntps://example.com/", false, true},
		{"space around", "example.com", " https://example.com/ ", false, true},
		{"zero width", "example.com", "https://exam\u200bple.com/", false, true},
		{"fullwidth", "example.com", "https://ｅxample.com/", false, true},
		{"ideographic dot", "example.com", "https://example\u3002com/", false, true},
		{"trailing dot", "example.com", "https://example.com./", false, true},
		{"percent", "example.com", "https://ex%61mple.com/", false, true},
		{"percent twice", "example.com", "https://ex%2561mple.com/", false, true},
		{"no scheme", "example.com", "example.com/a", false, true},
		{"no scheme but a port", "example.com", "example.com:8080/a", false, true},
		{"two slashes only", "example.com", "//example.com/a", false, true},
		{"one slash", "example.com", "https:/example.com/a", false, true},
		{"three slashes", "example.com", "https:///example.com/a", false, true},
		{"two ports", "example.com", "https://example.com:80:90/", false, true},
		{"empty port", "example.com", "https://example.com:/", false, true},
		{"port with a zero", "example.com", "https://example.com:0443/", false, true},
		{"port too large", "example.com", "https://example.com:65536/", false, true},
		{"punycode", "b\u00fccher.example", "https://xn--bcher-kva.example/", true, true},
		{"unicode", "b\u00fccher.example", "https://b\u00fccher.example/", false, true},
		{"address", "127.0.0.1", "http://127.0.0.1/", true, true},
		{"one number", "127.0.0.1", "http://2130706433/", false, true},
		{"hexadecimal", "127.0.0.1", "http://0x7f.1/", false, true},
		{"octal", "127.0.0.1", "http://0177.0.0.1/", false, true},
		{"leading zeros", "8.8.8.8", "http://010.8.8.8/", false, true},
		{"metadata", "169.254.169.254", "http://2852039166/latest", false, true},
		{"number too large", "127.0.0.1", "http://99999999999/", false, false},
		{"five numbers", "1.2.3.4", "http://1.2.3.4.5/", false, false},
		{"IPv6", "[::1]", "http://[::1]/", true, true},
		{"long IPv6", "[::1]", "http://[0:0::0:1]/", false, true},
		{"mapped", "127.0.0.1", "http://[::ffff:127.0.0.1]/", false, true},
		{"IPv6 with a port", "[::1]:8080", "http://[::1]:8080/", true, true},
		{"IPv6 with a zone", "[::1]", "http://[::1%25lo]/", false, true},
		{"not an address", "[::1]", "http://[::g]/", false, false},
		{"opaque", "example.com", "mailto:me@example.com", false, true},
		{"empty", "example.com", "", false, false},
		{"host in the path", "evil.org", "https://example.com/@evil.org", false, false},
		{"first host of that", "example.com", "https://example.com/@evil.org", true, true},
		{"bad percent in the host", "example.com", "https://%zz/", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			may := compile(t, spec(condition.Host, c.literal), aURL, permissive, nowhere)
			must := compile(t, spec(condition.Host, c.literal), aURL, restrictive, nowhere)
			if got := may.Match([]byte(c.value)); got != c.grant {
				t.Errorf("permissive %q on %q: %v, want %v", c.literal, c.value, got, c.grant)
			}
			if got := must.Match([]byte(c.value)); got != c.catch {
				t.Errorf("restrictive %q on %q: %v, want %v", c.literal, c.value, got, c.catch)
			}
		})
	}
}

// Proves K59.
func TestURLSchemePrefixConst(t *testing.T) {
	for _, c := range []struct {
		name           string
		kind           condition.Kind
		literal, value string
		grant, catch   bool
	}{
		{"scheme", condition.Scheme, "https", "https://h/", true, true},
		{"scheme in upper case", condition.Scheme, "HTTPS", "Https://h/", true, true},
		{"another scheme", condition.Scheme, "http", "https://h/", false, false},
		{"opaque scheme", condition.Scheme, "mailto", "mailto:a@b", true, true},
		{"hidden scheme", condition.Scheme, "javascript", "java\nscript:x", false, true},
		{"no scheme may be http", condition.Scheme, "http", "h/x", false, true},
		{"no scheme is not ftp", condition.Scheme, "ftp", "h/x", false, false},
		{"file", condition.Scheme, "file", "file:///etc/passwd", true, true},
		{"file without slashes", condition.Scheme, "file", "file:/etc/passwd", true, true},
		{"special without a host", condition.Scheme, "https", "https:h", false, true},
		{"host of a file", condition.Scheme, "file", "file://host/x", true, true},

		{"view-source", condition.Host, "evil.example", "view-source:https://evil.example/x", false, true},
		{"blob", condition.Host, "evil.example", "blob:https://evil.example/0f2d", false, true},
		{"feed", condition.Host, "evil.example", "feed:https://evil.example/rss", false, true},
		{"feed with slashes", condition.Host, "evil.example", "feed://https://evil.example/rss", false, true},
		{"four deep", condition.Host, "evil.example", "a:b:c:view-source:https://evil.example/", false, true},
		{"behind a scheme, another host", condition.Host, "evil.example", "blob:https://good.example/0f2d", false, false},
		{"scheme behind a scheme", condition.Scheme, "javascript", "view-source:javascript:x", false, true},
		{"prefix behind a scheme", condition.Prefix, "https://h.example/admin", "view-source:https://h.example/admin/x", false, true},
		{"name in brackets", condition.Host, "evil.example", "https://[evil.example]/", false, true},
		{"name in brackets, port", condition.Host, "evil.example", "https://u@[evil.example]:8443/", false, true},
		{"IPv4 in brackets", condition.Host, "127.0.0.1", "https://[127.0.0.1]/", false, true},

		{"prefix", condition.Prefix, "https://h.example/v1/", "https://h.example/v1/x?y", true, true},
		{"the directory itself", condition.Prefix, "https://h.example/v1/", "https://h.example/v1", true, true},
		{"longer component", condition.Prefix, "https://h.example/v1", "https://h.example/v10", false, false},
		{"another host", condition.Prefix, "https://h.example/", "https://h.example.org/", false, false},
		{"another scheme", condition.Prefix, "https://h.example/", "http://h.example/", false, false},
		{"default port", condition.Prefix, "https://h.example/", "https://h.example:443/x", true, true},
		{"default port in the rule", condition.Prefix, "https://h.example:443/", "https://h.example/x", true, true},
		{"another port", condition.Prefix, "https://h.example/", "https://h.example:8443/x", false, false},
		{"out of the directory", condition.Prefix, "https://h.example/v1/", "https://h.example/v1/../admin", false, true},
		{"into the directory", condition.Prefix, "https://h.example/admin", "https://h.example/v1/..%2Fadmin/x", false, true},
		{"case of the path", condition.Prefix, "https://h.example/admin", "https://h.example/Admin", false, true},
		{"case of a disguised path", condition.Prefix, "https://h.example/admin", "https://h.example//Admin", false, true},
		{"encoded letter", condition.Prefix, "https://h.example/v1/", "https://h.example/v1/%41", true, true},
		{"encoded control", condition.Prefix, "https://h.example/v1/", "https://h.example/v1/%00", false, true},
		{"broken encoding", condition.Prefix, "https://h.example/v1/", "https://h.example/v1/%4", false, true},
		{"parameters", condition.Prefix, "https://h.example/v1/", "https://h.example/v1/a;b", false, true},
		{"no scheme", condition.Prefix, "https://h.example/v1/", "h.example/v1/x", false, true},
		{"another port without a scheme", condition.Prefix, "https://h.example/", "user@h.example:8443/x", false, true},
		{"disguised default port", condition.Prefix, "https://h.example/", "https://u@h.example:443/x", false, true},
		{"disguised other port", condition.Prefix, "https://h.example/", "https://u@h.example:8443/x", false, false},
		{"many spellings", condition.Prefix, "https://h.example/z", `https://u@h.example/%25252e;a:b\c~1/$X "`, false, true},

		{"const", condition.Const, "https://h.example/a?b", "https://H.example:443/a?b", true, true},
		{"const, other query", condition.Const, "https://h.example/a?b", "https://h.example/a?c", false, false},
		{"const, empty path", condition.Const, "https://h.example", "https://h.example/", true, true},
		{"const, slash", condition.Const, "https://h.example/", "https://h.example", true, true},
		{"const, longer", condition.Const, "https://h.example/a", "https://h.example/a/b", false, false},
		{"const, disguised", condition.Const, "https://h.example/a", "https://u@h.example/x/../a#f", false, true},
		{"const, disguised other query", condition.Const, "https://h.example/a", "https://u@h.example/a?f", false, false},
		{"const with a directory", condition.Const, "https://h.example/a/", "https://h.example/a/", true, true},

		{"pattern", condition.Pattern, `^https://h\.example/[a-z]+$`, "https://h.example/abc", true, true},
		{"pattern, disguised", condition.Pattern, `^https://h\.example/[a-z]+$`, " https://h.example/abc", false, true},
		{"pattern, case", condition.Pattern, `^https://h\.example/[a-z]+$`, "https://H.example/ABC", false, true},
		{"pattern, other", condition.Pattern, `^https://h\.example/[a-z]+$`, "https://o.example/", false, false},
		{"pattern, other and disguised", condition.Pattern, `^https://h\.example/[a-z]+$`, "o.example", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			may := compile(t, spec(c.kind, c.literal), aURL, permissive, nowhere)
			must := compile(t, spec(c.kind, c.literal), aURL, restrictive, nowhere)
			if got := may.Match([]byte(c.value)); got != c.grant {
				t.Errorf("permissive %q on %q: %v, want %v", c.literal, c.value, got, c.grant)
			}
			if got := must.Match([]byte(c.value)); got != c.catch {
				t.Errorf("restrictive %q on %q: %v, want %v", c.literal, c.value, got, c.catch)
			}
		})
	}
}

// Proves K59, D25-30, D25-31.
func TestURLSpecErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    condition.Kind
		literal string
	}{
		{"host with a path", condition.Host, "example.com/x"},
		{"host with a user", condition.Host, "u@example.com"},
		{"host with a scheme", condition.Host, "https://example.com"},
		{"wildcard in the middle", condition.Host, "a.*.com"},
		{"wildcard in a label", condition.Host, "a*.example.com"},
		{"only a wildcard", condition.Host, "*"},
		{"only a wildcard label", condition.Host, "*."},
		{"bad port", condition.Host, "example.com:0"},
		{"trailing dot", condition.Host, "example.com."},
		{"address in another notation", condition.Host, "0x7f.1"},
		{"below an address", condition.Host, "*.127.0.0.1"},
		{"below an IPv6 address", condition.Host, "*.[::1]"},
		{"IPv6 without brackets", condition.Host, "::1"},
		{"empty", condition.Host, ""},
		{"long label", condition.Host, "a123456789012345678901234567890123456789012345678901234567890123.example"},
		{"space", condition.Host, "exa mple.com"},
		{"bad scheme", condition.Scheme, "https:"},
		{"empty scheme", condition.Scheme, ""},
		{"prefix without a scheme", condition.Prefix, "example.com/x"},
		{"prefix with a query", condition.Prefix, "https://example.com/x?y"},
		{"prefix that is not clean", condition.Prefix, "https://example.com/x/../y"},
		{"prefix without a host", condition.Prefix, "mailto:x"},
		{"glob", condition.Glob, "https://*.example.com/**"},
		{"suffix", condition.Suffix, ".com"},
		{"bad pattern", condition.Pattern, "("},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := specError(t, spec(c.kind, c.literal), aURL, permissive, nowhere)
			if bad.Message == "" || bad.Kind != c.kind {
				t.Errorf("got %+v", bad)
			}
		})
	}
	specError(t, spec(condition.Host, "example.com"), aString, permissive, nowhere)
	specError(t, spec(condition.Scheme, "https"), aPath, restrictive, nowhere)
}

// FuzzURL checks that a permitted URL has one reading: Go's parser, which splits as RFC 3986 does,
// finds the same host, and so do the restrictive readings.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://example.com/", `https://evil\@example.com`, "https://example.com:443?x@y", "//example.com", "https://example.com%00.evil.org/", "https://[::1]@example.com/"} {
		f.Add(s)
	}
	may := compile(f, spec(condition.Host, "*.example.com"), aURL, permissive, nowhere)
	must := compile(f, spec(condition.Host, "*.example.com"), aURL, restrictive, nowhere)
	f.Fuzz(func(t *testing.T, value string) {
		if !may.Match([]byte(value)) {
			return
		}
		if !must.Match([]byte(value)) {
			t.Errorf("%q satisfies the permissive condition and not the restrictive one", value)
		}
		host, ok := oracleHost(value)
		if !ok || len(host) <= len(".example.com") || host[len(host)-len(".example.com"):] != ".example.com" {
			t.Errorf("%q is granted, and another parser reads the host %q (%v)", value, host, ok)
		}
	})
}
