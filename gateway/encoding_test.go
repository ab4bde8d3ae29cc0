package gateway_test

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/stopgate/stopgate/gateway"
)

// compressors write the content encodings that the gateway decodes.
var compressors = []struct {
	name, header string
	open         func(io.Writer) io.WriteCloser
}{
	{"br", "br", func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }},
	{"zstd", "zstd", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return z }},
	{"deflate", "deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }},
	{"bare deflate", "Deflate", func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z }},
}

func compressed(open func(io.Writer) io.WriteCloser, text string) string {
	var out bytes.Buffer
	w := open(&out)
	io.WriteString(w, text)
	w.Close()
	return out.String()
}

// Responses and requests in br, zstd and deflate are decoded and judged like plain ones; the limits
// count decoded bytes, and invalid or doubly encoded bodies are refused.
func TestContentEncodings(t *testing.T) {
	for _, c := range compressors {
		zeros := func(n int) string { return compressed(c.open, strings.Repeat("\x00", n)) }
		answer, stream := chatWhole("tool_calls", [3]string{"c1", "a", "{}"}), chatStream("stop")
		coded := func(body string) string { return compressed(c.open, body) }
		for _, test := range []struct {
			name, encoding, kind, body string
			status                     int
			want                       string
		}{
			{"a body", c.header, "application/json", coded(answer), 200, "was not run"},
			{"a stream", c.header, "text/event-stream", coded(stream), 200, stream},
			{"a bomb", c.header, "application/json", zeros(64 << 20), 502, "limit_exceeded"},
			{"broken off", c.header, "application/json", coded(answer)[:len(coded(answer))/2], 502, "error"},
			{"not of that encoding", c.header, "application/json", "{}{}{}{}{}{}", 502, "error"},
			{"data behind the end", c.header, "application/json", coded(answer) + "xxxx", 502, "error"},
			{"coded twice, said once", c.header, "application/json", coded(coded(answer)), 502, "error"},
			{"coded twice", c.header + ", " + c.header, "application/json", coded(coded(answer)), 502, "unknown content encoding"},
			{"nothing", c.header, "application/json", "", 502, "error"},
		} {
			provider := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.Header().Set("Content-Encoding", test.encoding)
				io.WriteString(w, test.body)
			})
			r := newRig(t, denying("a"), provider, func(o *gateway.Options) { o.Settings.Limits.Body = 1 << 20 })
			a := r.post(chatPath, chatRequest(test.kind != "application/json"))
			if a.status != test.status || !strings.Contains(a.body, test.want) || a.header.Get("Content-Encoding") != "" || strings.Contains(a.body, `"c1"`) {
				t.Errorf("%s, %s: status %d, encoding %q: %.200s", c.name, test.name, a.status, a.header.Get("Content-Encoding"), a.body)
			}
		}
		for _, test := range []struct {
			name, encoding, body string
			status               int
		}{
			{"a request", c.header, coded(`{"input":"x"}`), 200},
			{"a bomb", c.header, zeros(64 << 20), 413},
			{"broken off", c.header, coded(`{"input":"x"}`)[:5], 400},
			{"coded twice", c.header + "," + c.header, coded(coded(`{"input":"x"}`)), 415},
		} {
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if text, _ := io.ReadAll(r.Body); string(text) != `{"input":"x"}` || r.Header.Get("Content-Encoding") != "" {
					t.Errorf("%s: the provider received %q, encoding %q", c.name, text, r.Header.Get("Content-Encoding"))
				}
			}), func(o *gateway.Options) { o.Settings.Limits.Request = 1 << 20 })
			if a := r.send("POST", "/v1/embeddings", test.body, map[string]string{"Content-Encoding": test.encoding}); a.status != test.status {
				t.Errorf("%s, %s: status %d, want %d: %s", c.name, test.name, a.status, test.status, a.body)
			}
		}
	}
}
