package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/jsonstream"
)

const placedPolicy = `version = 1
[tools.Read]
parameters.file_path = { type = "path", required = true }
policy.run = [
  { arg = "/file_path", glob = "src/**", mode = "unattended" },
  { mode = "deny", reason = "not below src" },
]
[tools."*".policy]
run = "ask"
[[guard]]
on = "path"
glob = "secret/**"
mode = "deny"
`

// recordedCall is a part of the JSON output of log show.
type recordedCall struct {
	Lists   []json.RawMessage `json:"lists"`
	Gone    []string          `json:"context_gone"`
	Differs string            `json:"differs"`
}

// shown is the output of log show about a decision, in a directory.
func (h *hookHome) shown(t *testing.T, dir, id string, flags ...string) (text string, said recordedCall) {
	t.Helper()
	for _, format := range []string{"text", "json"} {
		exit, out := h.in(dir, append([]string{"log", "show", id, "--format", format}, flags...)...)
		if exit != cli.ExitOK {
			t.Fatalf("%d %s", exit, out)
		}
		if format == "text" {
			text = out
		} else if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	return text, said
}

// Proves Q24, S13: log show and replay judge a recorded call where it was made, wherever they
// run, and say what is not known any more; a verdict that is another one is called so.
func TestRecordsAreJudgedInTheirSetting(t *testing.T) {
	h := newHookHome(t, placedPolicy)
	project := filepath.Join(h.dir, "project")
	elsewhere := filepath.Join(h.dir, "elsewhere")
	for _, dir := range []string{filepath.Join(project, "src", "sub"), filepath.Join(project, ".git"), elsewhere} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	policyFile := filepath.Join(h.dir, "policy.toml")
	event := func(tool, input, id string) string {
		return fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":%q}`, filepath.Join(project, "src"), tool, input, id)
	}
	// A relative path, in the directory of the session: it is below src only there.
	if said := h.hook("claude-code", event("Read", `{"file_path":"sub/a.go"}`, "c1")); said.exit != 0 {
		t.Fatalf("%+v", said)
	}
	exit, out := h.in(elsewhere, "log", "--format", "json", "--decisions", "-n", "1")
	if exit != cli.ExitOK {
		t.Fatal(out)
	}
	var row stopgate.Record
	if err := json.Unmarshal([]byte(out), &row); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if c := row.Context; c == nil || c.Root != project || c.Dir != filepath.Join(project, "src") || c.Home != h.dir {
		t.Fatalf("context %+v", row.Context)
	}
	text, said := h.shown(t, elsewhere, string(row.ID), "--policy", policyFile)
	if said.Lists == nil || said.Differs != "" || len(said.Gone) != 0 || !strings.Contains(text, "=>   1  line 5") {
		t.Errorf("differs %q, gone %q\n%s", said.Differs, said.Gone, text)
	}
	if exit, out := h.in(elsewhere, "replay", "--policy", policyFile); exit != cli.ExitOK || !strings.Contains(out, "1 of 1 calls judged again: 0 loosened, 0 tightened") || strings.Contains(out, "without all") {
		t.Errorf("replay: %d %s", exit, out)
	}

	if exit, out := h.in(elsewhere, "explain", "--record", string(row.ID), "--policy", policyFile); exit != cli.ExitOK || !strings.Contains(out, "=>   1  line 5") || strings.Contains(out, "ANOTHER") {
		t.Errorf("explain: %d %s", exit, out)
	}
	if exit, out := h.in(elsewhere, "explain", "--record", string(row.ID), "--tool", "x"); exit != cli.ExitUsage {
		t.Errorf("explain: %d %s", exit, out)
	}
	if exit, out := h.in(elsewhere, "explain", "--record", "nobody"); exit != cli.ExitTrouble || !strings.Contains(out, `no decision is recorded about "nobody"`) {
		t.Errorf("explain: %d %s", exit, out)
	}

	// A directory that the call names for its command, of which the row has a hash.
	if said := h.hook("claude-code", event("mcp__box__shell", `{"command":"cat a","cwd":"../secret"}`, "c2")); said.exit != 2 || !strings.Contains(said.out, "deny") {
		t.Fatalf("%+v", said)
	}
	var ran stopgate.Record
	if _, out = h.in(elsewhere, "log", "--format", "json", "--decisions", "-n", "1"); json.Unmarshal([]byte(out), &ran) != nil || ran.Context == nil || len(ran.Context.Run) != 64 || strings.Contains(out, "secret") {
		t.Fatalf("%s", out)
	}
	if text, said := h.shown(t, elsewhere, string(ran.ID), "--policy", policyFile); said.Lists == nil || said.Differs != "" || len(said.Gone) != 0 {
		t.Errorf("differs %q, gone %q\n%s", said.Differs, said.Gone, text)
	}

	// The project is gone.
	if err := os.RemoveAll(project); err != nil {
		t.Fatal(err)
	}
	text, said = h.shown(t, elsewhere, string(row.ID), "--policy", policyFile)
	if len(said.Gone) != 1 || !strings.Contains(said.Gone[0], "there is no such directory any more") || !strings.Contains(text, "not here any more: the files of "+project) {
		t.Errorf("gone %q\n%s", said.Gone, text)
	}
	if exit, out := h.in(elsewhere, "replay", "--policy", policyFile); exit != cli.ExitOK || !strings.Contains(out, "judged again without all that was known then: 2") {
		t.Errorf("replay: %d %s", exit, out)
	}
}

// Proves S13: rows of versions that kept no context are read, shown, verified and replayed as
// they were, and it is said what they lack; a verdict that is another one is called so.
func TestRowsWithoutAContext(t *testing.T) {
	h := newHookHome(t, placedPolicy)
	policyFile := filepath.Join(h.dir, "policy.toml")
	l, err := (&inputs.Policy{Files: []string{policyFile}}).Load(new(strings.Builder))
	if err != nil {
		t.Fatal(err)
	}
	args := []byte(`{"file_path":"sub/a.go"}`)
	mode, enforced, at := stopgate.Unattended, true, int64(24)
	row := stopgate.Record{
		Version: stopgate.RecordVersion, Kind: stopgate.RecordDecision, ID: "01M84H2W0MFFK5V0Z2P7PSW36R", Session: "s", Principal: "local", Surface: stopgate.SurfaceHook, Dialect: "claude-code",
		Tool: "Read", ArgsHash: "", ArgsBytes: int64(len(args)), Status: stopgate.StatusAllowed, Mode: &mode, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched,
		DecidedAt: &at, Policy: l.Program.Hash(), PathResolution: "followed", Enforced: &enforced, Args: args,
	}
	row.ArgsHash = canonicalHash(t, args)
	settings := place.Settings{Store: storeOf(h.dir)}
	if err := settings.Records.Arguments.UnmarshalText([]byte("full")); err != nil {
		t.Fatal(err)
	}
	store, err := settings.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Recorder().Record(context.Background(), &row); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	text, said := h.shown(t, h.dir, string(row.ID), "--policy", policyFile)
	if len(said.Gone) != 1 || !strings.Contains(text, "the row is of an older version") || said.Differs == "" || !strings.Contains(text, "ANOTHER VERDICT: judged again the rules say deny") {
		t.Errorf("differs %q, gone %q\n%s", said.Differs, said.Gone, text)
	}
	if exit, out := h.in(h.dir, "explain", "--record", string(row.ID), "--policy", policyFile); exit != cli.ExitDenied || !strings.Contains(out, "ANOTHER VERDICT") {
		t.Errorf("explain: %d %s", exit, out)
	}
	if exit, out := h.in(h.dir, "log", "verify"); exit != cli.ExitOK {
		t.Errorf("verify: %s", out)
	}
	if exit, out := h.in(h.dir, "replay", "--policy", policyFile); exit != cli.ExitOK || !strings.Contains(out, "judged again without all that was known then: 1") {
		t.Errorf("replay: %d %s", exit, out)
	}
}

// in runs stopgate in a directory, as the user of the home.
func (h *hookHome) in(dir string, args ...string) (exit int, said string) {
	cmd := exec.Command("stopgate", args...)
	cmd.Dir, cmd.Env = dir, atHome(h.dir)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

func canonicalHash(t *testing.T, args []byte) string {
	t.Helper()
	v, err := jsonstream.Parse(args, jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := jsonstream.HashCanonical(v)
	return hex.EncodeToString(sum[:])
}
