package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// callWords occur in every recorded reply with a call, or something similar to a call.
var callWords = []string{`"tool_calls"`, `"function_call"`, `"tool_use"`, `_call"`}

// Recorded replies without a call reach the client byte for byte, in every dialect, whatever the
// format of the provider's events.
func TestRecordedRepliesWithoutCallsPass(t *testing.T) {
	provider := script{}
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }), nil)
	for dir, path := range map[string]string{"openai-chat": chatPath, "openai-responses": "/v1/responses", "anthropic-messages": anthropicPath} {
		files, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", dir), "*.sse"))
		if err != nil || len(files) == 0 {
			t.Fatal("no recordings", err)
		}
		plain := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if mentions(string(text), callWords) {
				continue
			}
			plain++
			provider = script{body: string(text)}
			a := r.post(path, `{"model":"m","max_tokens":99,"stream":true,"messages":[],"input":"x"}`)
			cut := strings.Contains(a.body, "stream_truncated") // the recording itself is truncated
			// Without its blank line a client does not see the end of a message, so the gateway
			// adds it.
			if a.body != string(text) && a.body != string(text)+"\n" && !cut {
				t.Errorf("%s: changed, ended with %v\n%.600s", filepath.Base(file), a.err, a.body)
			}
			if cut {
				t.Logf("%s is incomplete", filepath.Base(file))
			}
		}
		t.Logf("%s: %d of %d recordings have no call", dir, plain, len(files))
	}
}

func mentions(text string, words []string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
