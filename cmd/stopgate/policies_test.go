package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
)

// Proves V3-04, V3-19, V3-30, S29: what a policy file says about judges and event policies
// holds behind up, the record has the answer, and whoever watches hears of it.
func TestUpJudgesAndRedacts(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key-of-the-judge" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		content, _ := json.Marshal(`{"probability":0.9,"explanation":"It stores secrets."}`)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, content)
	}))
	defer model.Close()
	dir := t.TempDir()
	text := `version = 1
[tools.fs_create_file.policy]
run = "unattended"
[judge]
model = "judge-1"
base_url = "` + model.URL + `"
key_file = "judge.key"
max_bytes = 1000000
[[gateway.policies]]
type = "redact"
patterns = ["[Cc]redentials"]
replacement = "[word]"
`
	for name, text := range map[string]string{"p.toml": text, "judge.key": "key-of-the-judge\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startUp(t, dir, "--policy", "p.toml", "--audit", "records.jsonl")
	_, answer := post(t, s.url+"/v1/chat/completions", storeCredentials)
	if !strings.Contains(answer, "A safety review did not accept this call (judge_denied)") || strings.Contains(answer, `"tool_calls":[{"index`) {
		t.Errorf("answer %s", answer)
	}
	if strings.Contains(answer, "credentials") || !strings.Contains(answer, "[word]") {
		t.Errorf("not redacted: %s", answer)
	}
	watch := exec.Command("stopgate", "events", "--all", "--count", "3", "--type", "policy", "--format", "json", "--url", s.api)
	watch.Env = atHome(dir)
	seen, err := watch.CombinedOutput()
	for _, want := range []string{`"judge.blocked"`, `"severity":"warning"`, `"judge.summary"`, `"1 judged, 1 blocked, 0 skipped"`, `"redact.replaced"`} {
		if err != nil || !strings.Contains(string(seen), want) {
			t.Errorf("%s is missing in the events, %v\n%s", want, err, seen)
		}
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	rows, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	for _, want := range []string{`"code":"judge_denied"`, `"judge":{"model":"judge-1"`, `"probability":0.9`, `"explanation":"It stores secrets."`} {
		if err != nil || !strings.Contains(string(rows), want) {
			t.Errorf("%s is missing in the records, %v\n%s", want, err, rows)
		}
	}
}
