package traces_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// dialects are the folders of recorded streams, and where the gateway serves them.
var dialects = []struct{ folder, path string }{
	{"openai-chat", "/v1/chat/completions"}, {"openai-responses", "/v1/responses"}, {"anthropic-messages", "/v1/messages"},
}

// Every recorded stream reaches the client as it did when the golden file was written,
// under the coding starter and under a policy that lets everything run.
func TestRecordedStreams(t *testing.T) {
	root := corpus.Path(t, "streams")
	var h hashes
	var body []byte
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}))
	defer provider.Close()
	sources, options := starter(t)
	asked, free := newTracer(t, sources, options, nil), newTracer(t, everything, options, nil)
	for _, d := range dialects {
		files, err := filepath.Glob(filepath.Join(root, d.folder, "*.sse"))
		if err != nil || len(files) == 0 {
			t.Fatal("no recordings", err)
		}
		for _, file := range files {
			if body, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			request := declaring(string(body))
			text := through(t, asked, provider.URL, d.path, request) + through(t, free, provider.URL, d.path, request)
			h.add(filepath.Join("streams", d.folder, filepath.Base(file)), []byte(text))
		}
	}
	h.check(t, "streams")
}

// named finds the names of the tools that a stream calls.
var named = regexp.MustCompile(`"name":\s*"([A-Za-z0-9_.-]+)"`)

// declaring is a request, for every dialect, that declares the tools that the stream calls.
func declaring(stream string) string {
	seen := map[string]bool{}
	var tools []any
	for _, m := range named.FindAllStringSubmatch(stream, -1) {
		if seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		open := map[string]any{"type": "object"}
		tools = append(tools, map[string]any{"type": "function", "name": m[1], "parameters": open, "input_schema": open,
			"function": map[string]any{"name": m[1], "parameters": open}})
	}
	text, err := json.Marshal(map[string]any{"model": "m", "stream": true, "max_tokens": 99, "messages": []any{}, "input": "x", "tools": tools})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// through sends a request through a gateway and returns what the client got and the rows.
func through(t *testing.T, c *tracer, provider, path, request string) string {
	t.Helper()
	gw, err := gateway.New(gateway.Options{Gate: c.gate, Settings: gateway.DefaultSettings(), Upstreams: []gateway.Upstream{{ID: "test", BaseURL: provider}}})
	if err != nil {
		t.Fatal(err)
	}
	defer gw.Close()
	srv := httptest.NewServer(gw)
	defer srv.Close()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL+path, strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	end := ""
	if err != nil {
		end = " broken off"
	}
	rows, err := json.Marshal(c.take(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(string(got))
	if err != nil {
		t.Fatal(err)
	}
	return res.Status + end + " " + string(text) + " " + string(rows)
}
