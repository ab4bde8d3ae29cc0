package replay_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

const (
	first  = "data: {\"choices\":[]}\r\n\r\n: note\rdata: x\r\rdata: [DONE]\n\n"
	second = "data: {\"n\":2}\n\ndata: cut in the mid"
	third  = "event: ping\ndata: {}\n\n"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRecordingsArePlayedByteForByte(t *testing.T) {
	rec, err := replay.OpenRecordings(folder(t, map[string]string{
		"streams/openai-chat/a.sse":        first,
		"streams/openai-chat/b.sse":        second,
		"streams/anthropic-messages/c.sse": third,
		"streams/manifest.jsonl":           `{"file":"streams/openai-chat/b.sse","model":"gpt-x"}` + "\n\n" + `{"file":"streams/openai-chat/a.sse","model":"gpt-x"}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	waits := 0
	c := upstream(t, replay.Options{Recordings: rec, TokensPerSecond: 10, Sleep: func(context.Context, time.Duration) error { waits++; return nil }})
	for _, test := range []struct {
		name, path, model, header, messages, want string
		waits                                     int
	}{
		{"by name", chatPath, "a", "", "", first, 3},
		{"by header", chatPath, "a", "b", "", second, 2},
		{"by the recorded model", chatPath, "gpt-x", "", "", first, 3},
		{"the next of that model", chatPath, "gpt-x", "", `{"role":"assistant"}`, second, 2},
		{"one after the other", chatPath, "other", "", "", first, 3},
		{"the next one", chatPath, "other", "", "", second, 2},
		{"from the start again", chatPath, "other", "", "", first, 3},
		{"other dialect", anthropicPath, "c", "", "", third, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			waits = 0
			req, _ := http.NewRequest("POST", "http://replay"+test.path, strings.NewReader(`{"stream":true,"model":"`+test.model+`","messages":[`+test.messages+`]}`))
			if test.header != "" {
				req.Header.Set("X-Replay-Stream", test.header)
			}
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			got := new(strings.Builder)
			if _, err := copyAll(got, res); err != nil {
				t.Fatal(err)
			}
			if got.String() != test.want {
				t.Errorf("played %q, want %q", got, test.want)
			}
			if waits != test.waits {
				t.Errorf("%d events, want %d", waits, test.waits)
			}
		})
	}
	for _, test := range []struct {
		name, body, header string
		status             int
	}{
		{"unknown name in the header", `{"stream":true}`, "zzz", 404},
		{"recordings are streams", `{"model":"a"}`, "", 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, _ := http.NewRequest("POST", "http://replay"+chatPath, strings.NewReader(test.body))
			req.Header.Set("X-Replay-Stream", test.header)
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != test.status {
				t.Errorf("status %d, want %d", res.StatusCode, test.status)
			}
		})
	}
	// Scripts are still available next to recordings.
	_, body := post(t, c, chatPath, `{"model":"stopgate-demo","stream":true,"messages":[]}`)
	if len(hearChat(t, body).Calls) != 2 {
		t.Error("the scenario is gone")
	}
}

func TestRecordingsOfOneDialectOnly(t *testing.T) {
	rec, err := replay.OpenRecordings(folder(t, map[string]string{"anthropic-messages/c.sse": third}))
	if err != nil {
		t.Fatal(err)
	}
	c := upstream(t, replay.Options{Recordings: rec})
	_, body := post(t, c, chatPath, `{"model":"gpt-x","stream":true,"messages":[]}`)
	if h := hearChat(t, body); h.Model != "stopgate-demo" {
		t.Errorf("answered by %q", h.Model)
	}
	c = upstream(t, replay.Options{Recordings: rec, Scenarios: []*replay.Scenario{}})
	if res, _ := post(t, c, chatPath, `{"model":"gpt-x","stream":true,"messages":[]}`); res.StatusCode != 404 {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing there":    {"notes.txt": "x"},
		"broken manifest":  {"openai-chat/a.sse": first, "manifest.jsonl": "{"},
		"other API's only": {"bedrock/a.sse": first},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := replay.OpenRecordings(folder(t, files)); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestRecordedCollection(t *testing.T) {
	dir := corpus.Path(t, "streams")
	rec, err := replay.OpenRecordings(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	c := upstream(t, replay.Options{Recordings: rec})
	for folder, path := range map[string]string{"openai-chat": chatPath, "anthropic-messages": anthropicPath} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.sse"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files", err)
		}
		for _, file := range files {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, got := post(t, c, path, `{"stream":true,"model":"`+strings.TrimSuffix(filepath.Base(file), ".sse")+`"}`)
			if got != string(want) {
				t.Errorf("%s is not played byte for byte", file)
			}
		}
	}
}
