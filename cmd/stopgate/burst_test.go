package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
)

const askingChat = `{"model":"m","user":"%d","messages":[{"role":"user","content":"Write it."}],
 "tools":[{"type":"function","function":{"name":"fs_create_file","parameters":{"type":"object",
  "properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}]}`

// burstSize is how many calls come at once.
func burstSize() int {
	if os.Getenv("STOPGATE_LONG") != "" {
		return 300
	}
	return 16
}

// answering approves whatever waits until ctx ends.
func (s *server) answering(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		_, a := s.ask(t, "anna-anna-anna-anna", "GET", "/v1/approvals?state=waiting", "")
		list, _ := a["approvals"].([]any)
		for _, e := range list {
			// Another one may have been faster.
			s.ask(t, "anna-anna-anna-anna", "POST", "/v1/approvals/"+fmt.Sprint(e.(map[string]any)["id"]), `{"answer":"approve"}`)
		}
	}
}

// attended keeps the list of questions open, so that calls wait for an answer, until its
// end.
func (s *server) attended(t *testing.T) (end func()) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.api+"/v1/approvals/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer anna-anna-anna-anna")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return func() { res.Body.Close() }
}

// rowCounts counts the records of a home by status, or by event, each with its code.
func rowCounts(t *testing.T, dir string, flags ...string) map[string]int {
	t.Helper()
	cmd := exec.Command("stopgate", append([]string{"log", "export"}, flags...)...)
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(out)) {
		var row struct{ Status, Event, Code string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		counts[row.Status+row.Event]++
		if row.Status == "denied" {
			counts["denied "+row.Code]++
		}
	}
	return counts
}

// Proves FM2, FM4, S7: many questions at once, of the gateway and of the API, answered by
// several people: all are asked, nobody is denied for load, and every call has its rows.
func TestABurstOfQuestions(t *testing.T) {
	n, people := burstSize(), 2
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ User string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,`+
			`"tool_calls":[{"id":"call_%s","type":"function","function":{"name":"fs_create_file","arguments":"{\"path\":\"a%s\",\"content\":\"b\"}"}}]}}]}`, asked.User, asked.User)
	}))
	defer model.Close()
	upstream := filepath.Join(t.TempDir(), "upstream.toml")
	if err := os.WriteFile(upstream, []byte("version = 1\n[upstream.model]\nbase_url = \""+model.URL+"/v1\"\napi = \"openai\"\n[approvals]\nunary_timeout = \"10m\"\nhold = \"10m\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--policy", upstream}
	if n > 100 {
		people = 8
	}
	for name, call := range map[string]func(s *server, i int) (what string, ok bool){
		"API": func(s *server, i int) (string, bool) {
			body := fmt.Sprintf(`{"tool":"fs_create_file","args":{"path":"a%d","content":"b"},"session":"s"}`, i)
			r, err := http.NewRequest("POST", s.api+"/v1/calls", strings.NewReader(body))
			if err != nil {
				return err.Error(), false
			}
			r.Header.Set("Authorization", "Bearer agent-agent-agent")
			r.Header.Set("Prefer", "wait=600")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				return err.Error(), false
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			return fmt.Sprint(string(text), err), err == nil && strings.Contains(string(text), `"status":"allowed"`)
		},
		"gateway": func(s *server, i int) (string, bool) {
			res, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(askingChat, i)))
			if err != nil {
				return err.Error(), false
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			return fmt.Sprint(string(text), err), err == nil && strings.Contains(string(text), `"name":"fs_create_file"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPI(t, args...)
			leave := s.attended(t)
			ctx, stop := context.WithCancel(t.Context())
			var answering, all sync.WaitGroup
			for range people {
				answering.Go(func() { s.answering(ctx, t) })
			}
			for i := range n {
				all.Go(func() {
					if what, ok := call(s, i); !ok {
						t.Errorf("call %d: %s", i, what)
					}
				})
			}
			all.Wait()
			stop()
			answering.Wait()
			leave()
			if code := s.stop(t); code != cli.ExitOK {
				t.Errorf("exit code %d\n%s", code, s.stderr)
			}
			counts := rowCounts(t, s.cmd.Dir)
			if counts["allowed"] != n || counts["asked"] != n || counts["answered"] != n || counts["gap"]+counts["release_failed"] != 0 {
				t.Errorf("rows of %d calls: %v", n, counts)
			}
		})
	}
}

// Proves FM9, FM2: many hooks at once, each a process of its own, all decide and all leave
// their row: none is denied for load.
func TestABurstOfHooks(t *testing.T) {
	n := burstSize()
	h := newHookHome(t, "version = 1\n[tools.Bash]\npolicy.run = \"ask\"\n[tools.Read]\npolicy.run = \"unattended\"\n")
	for tool, parameter := range map[string]string{"Read": "file_path", "Bash": "command"} {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				event := fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":{%q:"f%d"},"tool_use_id":"%s%d"}`, h.dir, tool, parameter, i, tool, i)
				if said := h.hook("claude-code", event); said.exit != 0 || tool == "Bash" && !strings.Contains(said.out, `"ask"`) {
					t.Errorf("%s %d: %+v", tool, i, said)
				}
			})
		}
		all.Wait()
	}
	counts := rowCounts(t, h.dir)
	if counts["allowed"] != 2*n || counts["asked"] != n || counts["denied"]+counts["gap"]+counts["release_failed"] != 0 {
		t.Errorf("rows of %d calls: %v", 2*n, counts)
	}
	if spool, err := filepath.Glob(filepath.Join(h.dir, ".local", "state", "stopgate", "*-spool", "*")); err != nil || len(spool) > 0 {
		t.Errorf("spooled: %q %v", spool, err)
	}
}
