package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inspect"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
)

// keptPolicy permits writes to addresses of the sources.
func keptPolicy(sources string) string {
	return `version = 1
[flow]
keep_text = true
[sources.page]
tool = "read"
trusted = true
[tools.read]
policy.run = "unattended"
[tools.write.parameters]
path = { type = "string", as = "email" }
[tools.write]
effect = true
policy.run = [ { arg = "/path", from = [` + sources + `], mode = "unattended" }, { mode = "deny" } ]
`
}

// Calls of the gateway are replayed by the texts of their conversation, in every dialect, with the id of
// a session and without.
func TestReplayOfTheGatewaysTexts(t *testing.T) {
	for _, in := range tongues() {
		for _, header := range []map[string]string{{"X-Stopgate-Session": "s"}, nil} {
			t.Run(fmt.Sprint(in.name, header != nil), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "s.db")
				s, err := kinds.Open(t.Context(), path, backend.Options{Arguments: audit.KeepFull})
				if err != nil {
					t.Fatal(err)
				}
				live := keptPolicy(`"user"`)
				k := newTalk(t, in, live, func(o *gateway.Options) {
					o.Gate = newGate(t, live, nil, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
					o.Settings.OnDeny = gateway.DenyText
				})
				k.header = header
				write := func(id, address string) pastCall { return pastCall{id, "write", `{"path":"` + address + `"}`} }
				turn := []historyEntry{user("write to ann@a.example")}
				k.converse([]pastCall{write("c1", "ann@a.example")}, turn...)
				k.converse([]pastCall{write("c2", "bob@b.example")}, turn...)
				k.converse([]pastCall{{"c3", "read", "{}"}}, turn...)
				turn = append(turn, call("c3", "read", "{}"), result("c3", "bob@b.example"))
				k.converse([]pastCall{write("c4", "bob@b.example")}, turn...)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				for sources, want := range map[string]string{
					`"user"`:         "4 4 0 0 map[]",
					`"user", "page"`: "4 4 1 0 map[]", // the second write to bob
					`"page"`:         "4 4 1 1 map[]", // and no write to ann
				} {
					if got := replayed(t, path, keptPolicy(sources)); got != want {
						t.Errorf("from %s: %s, want %s", sources, got, want)
					}
				}
			})
		}
	}
}

// replayed judges the calls of a store by a policy, and returns how many there are, were judged,
// loosened and tightened, and why others could not be judged.
func replayed(t *testing.T, path, rules string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.toml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, faults bytes.Buffer
	cmd := inspect.NewReplay(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &faults})
	cmd.SetArgs([]string{"--policy", file, "--format", "json", path})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err, faults.String())
	}
	var r struct {
		Calls, Replayed, Loosened, Tightened int
		Unreplayable                         map[string]int
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.Calls, r.Replayed, r.Loosened, r.Tightened, r.Unreplayable)
}
