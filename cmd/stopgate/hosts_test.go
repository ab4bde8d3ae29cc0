package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Proves G9: names of --host are let in with those of the file, also after a reload, and no others.
func TestHostsOfClients(t *testing.T) {
	dir := t.TempDir()
	const text = "version = 1\n[gateway]\nhosts = [\"gate.example.com\"]\n[tools.fs_create_file.policy]\nrun = [{ mode = \"deny\", reason = \"one\" }]\n"
	writeIn(t, dir, "p.toml", text)
	s := startUp(t, dir, "--policy", "p.toml", "--host", "gate", "--host", "gate.agents.svc")
	ask := func(host string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/chat/completions", strings.NewReader(storeCredentials))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	all := func() {
		t.Helper()
		for host, want := range map[string]int{"gate": 200, "gate.agents.svc:8788": 200, "gate.example.com": 200, "localhost": 200, "other": 403, "gate.agents": 403} {
			if status, text := ask(host); status != want {
				t.Errorf("%s: %d %s", host, status, text)
			}
		}
	}
	all()
	writeIn(t, dir, "p.toml", strings.Replace(text, `"one"`, `"two"`, 1))
	until(t, "the changed file", func() bool { _, text := ask("gate"); return strings.Contains(text, "two") })
	all()
}
