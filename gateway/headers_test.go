package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// rewrites are headers that make some servers handle another request, send a part of a response, or
// learn the client's address.
var rewrites = []string{
	"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL", "X-Original-Host",
	"Range", "If-None-Match", "If-Modified-Since", "Referer", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP",
}

// orders are headers that control a browser or a proxy, or describe the encoding of a body.
var orders = []string{
	"X-Accel-Redirect", "X-Accel-Expires", "X-Sendfile", "X-Reproxy-URL", "Refresh", "Clear-Site-Data", "Strict-Transport-Security",
	"Content-Digest", "Etag", "Content-Location", "Location",
}

// Proves F17, F18: the provider receives a new request.
func TestRequestUpstream(t *testing.T) {
	var got *http.Request
	var body string
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_1")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Alt-Svc", `h3=":443"`)
		w.Header().Set("X-Stopgate-Upstream", "forged")
		for _, name := range orders {
			w.Header().Set(name, "x")
		}
		w.Header()["Anthropic-Ratelimit-Tokens"] = []string{"1", "2"}
		io.WriteString(w, `{"data":[]}`)
	}), nil)
	req, _ := http.NewRequest("POST", r.url+"/v1/embeddings?x=1", strings.NewReader(`{"input":"x"}`))
	req.Header = http.Header{
		"Authorization": {"Bearer sk-1"}, "Anthropic-Beta": {"one", "two"}, "X-Stainless-Lang": {"js"}, "User-Agent": {"agent/1"},
		"Cookie": {"c=d"}, "X-Forwarded-For": {"1.2.3.4"}, "Forwarded": {"for=1.2.3.4"}, "X-Stopgate-Session": {"s"}, "Connection": {"X-Secret-Hop, keep-alive"},
		"X-Secret-Hop": {"h"}, "Te": {"trailers"}, "Upgrade": {"h2c"}, "Http2-Settings": {"AAAA"}, "Accept-Encoding": {"br, gzip"},
		"Idempotency-Key": {"k1"}, "X-Upstream": {"http://evil.example"}, "Proxy-Authorization": {"Basic x"},
	}
	for _, name := range rewrites {
		req.Header.Set(name, "x")
	}
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for _, name := range rewrites {
		if got.Header.Get(name) != "" {
			t.Errorf("%s reached the provider", name)
		}
	}
	for _, name := range orders {
		if res.Header.Get(name) != "" {
			t.Errorf("%s reached the client", name)
		}
	}
	if got.Method+" "+got.URL.RequestURI() != "POST /v1/embeddings?x=1" || body != `{"input":"x"}` || got.ContentLength != 13 || "http://"+got.Host != r.up {
		t.Errorf("%s %s to %s, %d bytes: %s", got.Method, got.URL, got.Host, got.ContentLength, body)
	}
	for name, want := range map[string]string{
		"Authorization": "[Bearer sk-1]", "Anthropic-Beta": "[one two]", "X-Stainless-Lang": "[js]", "User-Agent": "[agent/1]",
		"Accept-Encoding": "[identity]", "Idempotency-Key": "[k1]", "Cookie": "[]", "X-Forwarded-For": "[]", "Forwarded": "[]",
		"X-Stopgate-Session": "[]", "X-Secret-Hop": "[]", "Te": "[]", "Upgrade": "[]", "Http2-Settings": "[]", "Proxy-Authorization": "[]", "Connection": "[]",
	} {
		if have := fmt.Sprint(got.Header[name]); have != want {
			t.Errorf("%s: %s reached the provider, want %s", name, have, want)
		}
	}
	for name, want := range map[string]string{
		"Request-Id": "[req_1]", "Anthropic-Ratelimit-Tokens": "[1 2]", "Set-Cookie": "[]", "Alt-Svc": "[]", "X-Stopgate-Upstream": "[test]",
	} {
		if have := fmt.Sprint(res.Header[name]); have != want {
			t.Errorf("%s: %s reached the client, want %s", name, have, want)
		}
	}
}

func TestBaseURLs(t *testing.T) {
	for _, test := range []struct{ base, request, want string }{
		{"", "/v1/models", "/v1/models"},
		{"/", "/v1/models", "/v1/models"},
		{"/v1", "/v1/models", "/v1/models"},
		{"/v1/", "/v1/models", "/v1/models"},
		{"/api/paas/v4", "/v1/models", "/api/paas/v4/models"},
		{"/openai", "/v1/models?a=b", "/openai/v1/models?a=b"},
	} {
		t.Run(test.base, func(t *testing.T) {
			got := ""
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.URL.RequestURI() }), nil)
			r2 := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) { o.Upstreams[0].BaseURL = r.up + test.base })
			r2.send("GET", test.request, "", nil)
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func gzipped(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text)
	z.Close()
	return out.String()
}

// Proves FM14: encodings and sizes of requests.
func TestRequestBodies(t *testing.T) {
	for _, test := range []struct {
		name, encoding, body string
		status               int
		code                 string
	}{
		{"plain", "", `{"input":"x"}`, 200, ""},
		{"identity", "identity", `{"input":"x"}`, 200, ""},
		{"gzip", "gzip", gzipped(`{"input":"x"}`), 200, ""},
		{"an unknown encoding", "compress", "xx", 415, "protocol_violation"},
		{"twice", "gzip, gzip", "xx", 415, "protocol_violation"},
		{"broken gzip", "gzip", "xx", 400, "protocol_violation"},
		{"too large", "", strings.Repeat("x", 2<<20), 413, "limit_exceeded"},
		{"bomb", "gzip", gzipped(strings.Repeat("x", 900<<10)), 413, "limit_exceeded"},
		{"large when decoded", "gzip", gzipped(strings.Repeat("0123456789abcdef", 20) + strings.Repeat("x", 2<<20)), 413, "limit_exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				if string(text) != `{"input":"x"}` || r.Header.Get("Content-Encoding") != "" {
					t.Errorf("the provider received %q, encoding %q", text, r.Header.Get("Content-Encoding"))
				}
			}), func(o *gateway.Options) { o.Settings.Limits.Request = 1 << 20 })
			header := map[string]string{}
			if test.encoding != "" {
				header["Content-Encoding"] = test.encoding
			}
			a := r.send("POST", "/v1/embeddings", test.body, header)
			if a.status != test.status {
				t.Errorf("status %d, want %d: %s", a.status, test.status, a.body)
			}
			if test.code != "" {
				mustContain(t, a.body, test.code)
			}
		})
	}
}

// The transport does not repeat a POST, even if the client allows it.
func TestNoRetry(t *testing.T) {
	var requests atomic.Int64
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 { // a reused connection breaks without a response
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Close()
			return
		}
		io.WriteString(w, "{}")
	}), nil)
	header := map[string]string{"Idempotency-Key": "k"}
	r.send("POST", "/v1/embeddings", "{}", header)
	time.Sleep(10 * time.Millisecond)
	if a := r.send("POST", "/v1/embeddings", "{}", header); a.status != 502 || requests.Load() != 2 {
		t.Errorf("status %d after %d requests", a.status, requests.Load())
	}
}
