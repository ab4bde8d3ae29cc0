package main

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// zeros is a body of so many bytes 0 in a content encoding.
func zeros(t *testing.T, encoding string, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "br":
		w = brotli.NewWriterLevel(&out, brotli.BestSpeed)
	case "deflate":
		w, err = zlib.NewWriterLevel(&out, flate.BestSpeed)
	case "zstd":
		w, err = zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	}
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range size >> 20 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A GiB of zeros in an answer is 502, and in a request 413, in every encoding; the gateway
// does not hold it.
func TestGibibyteOfZeros(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a GiB of zeros three times")
	}
	bodies := map[string][]byte{}
	for _, encoding := range []string{"br", "deflate", "zstd"} {
		bodies[encoding] = zeros(t, encoding, 1<<30)
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		for encoding, body := range bodies {
			if strings.Contains(string(text), encoding) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", encoding)
				_, _ = w.Write(body) // the gateway goes before the end
				return
			}
		}
		t.Errorf("the provider was asked for %.100s", text)
	}))
	t.Cleanup(provider.Close)
	s := startUp(t, t.TempDir(), "--store", "memory", "--openai-upstream", provider.URL+"/v1")
	for encoding, body := range bodies {
		status, answer := post(t, s.url+"/v1/chat/completions", `{"model":"`+encoding+`","messages":[{"role":"user","content":"go"}]}`)
		if status != http.StatusBadGateway || !strings.Contains(answer, "limit_exceeded") {
			t.Errorf("an answer in %s: status %d: %.300s", encoding, status, answer)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Content-Encoding", encoding)
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), "limit_exceeded") {
			t.Errorf("a request in %s: status %d: %.300s", encoding, resp.StatusCode, text)
		}
	}
	if kept := peakOf(t, s.cmd.Process.Pid); kept > 256<<10 {
		t.Errorf("the gateway held %d KiB", kept)
	}
}

// peakOf is the most memory that a process had, in KiB, as far as the system says.
func peakOf(t *testing.T, pid int) (kib int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("at most %d KiB", kib)
	return kib
}
