package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/session"
)

const namedRules = `
version = 1
[tools.send]
effect = true
parameters.to = { type = "string", as = "email" }
[tools.send.policy]
run = [ { arg = "/to", from = ["user"], mode = "unattended" }, { mode = "deny" } ]
`

// What a person named stays named after a restart, if texts are kept; otherwise it is in doubt. The
// file has no text. A replay reports that it has no texts.
func TestNamedStaysNamed(t *testing.T) {
	for keep, want := range map[string]stopgate.Code{"hashes": "", "none": stopgate.CodeOriginUnknown} {
		t.Run(keep, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			file, path := filepath.Join(dir, "p.toml"), filepath.Join(dir, "s.db")
			text := namedRules + "[flow]\nkeep = \"" + keep + "\"\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			program, mistakes := prove.Compile([]policy.Source{{Name: file, Text: []byte(text), Trusted: true}}, policy.Options{})
			if program == nil {
				t.Fatal(mistakes)
			}
			process := func(f func(g *gate.Gate)) {
				t.Helper()
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{Records: rows.Options{Arguments: audit.KeepFull}})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				g, err := gate.New(program, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult))
				if err != nil {
					t.Fatal(err)
				}
				f(g)
			}
			send := func(g *gate.Gate, to string) stopgate.Outcome {
				t.Helper()
				out, err := g.Decide(t.Context(), stopgate.Call{Tool: "send", Session: "s", Principal: "local", Surface: stopgate.SurfaceLibrary, Args: []byte(`{"to":"` + to + `"}`)})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			process(func(g *gate.Gate) {
				err := g.AddTexts(t.Context(), session.Owner{Principal: "local", Session: "s"}, "", gate.Texts{
					Known: flow.KnowsUser, List: []gate.Text{{Message: &flow.Message{Source: flow.User, Text: []byte("Write to anneliese@one.test")}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				if out := send(g, "anneliese@one.test"); !out.Allowed() {
					t.Errorf("%+v", out)
				}
			})
			process(func(g *gate.Gate) {
				if out := send(g, "anneliese@one.test"); out.Allowed() != (want == "") || want != "" && out.Verdict.Code != want {
					t.Errorf("after a restart: %s %s", out.Status, out.Verdict.Code)
				}
				if out := send(g, "eve@evil.test"); out.Allowed() {
					t.Error("an address that nobody named")
				}
			})
			for _, name := range []string{path, path + "-wal"} {
				if stored, err := os.ReadFile(name); err == nil && strings.Contains(string(stored), "Write to anneliese") {
					t.Errorf("%s has the text", name)
				}
			}
			var out, talk strings.Builder
			code := run([]string{"replay", "--policy", file, path}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
			if code != cli.ExitOK || !strings.Contains(out.String(), "not replayable: 3, texts of the session not kept") {
				t.Errorf("exit %d: %s%s", code, &out, &talk)
			}
		})
	}
}
