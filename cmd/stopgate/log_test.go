package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/location"
	"github.com/stopgate/stopgate/internal/store/servers"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/session"
)

// seed decides calls under a policy file and keeps the records in a store: seed
// STORE POLICY CALLS [GATE]. A line of CALLS is SESSION, TOOL and the argument text. Asked
// calls are approved by anna, but for arguments that contain "no".
func seed(ts *testscript.TestScript, _ bool, args []string) {
	at := args[0]
	if location.IsFile(at) {
		at = ts.MkAbs(at)
	}
	name := ""
	if len(args) > 3 {
		name = args[3]
	}
	ts.Check(seedStore(at, name, args[1], ts.ReadFile(args[1]), ts.ReadFile(args[2])))
}

// idOf sets ID to the proposal of the first row in a file: idof stdout
func idOf(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, _ := strings.Cut(strings.ReplaceAll(ts.ReadFile(args[0]), `"id": "`, `"id":"`), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	ts.Setenv("ID", id)
}

func seedStore(at, gateName, name, text, calls string) error {
	return seedStoreAt(at, gateName, name, text, calls, time.Now)
}

// seedStoreAt is seedStore with the times of the rows.
func seedStoreAt(at, gateName, name, text, calls string, now func() time.Time) error {
	program, mistakes := prove.Compile([]policy.Source{{Name: name, Text: []byte(text), Trusted: true}}, policy.Options{})
	if program == nil {
		return mistakes.Err()
	}
	ctx := context.Background()
	if location.IsFile(at) {
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
	}
	s, err := servers.Open(ctx, at, backend.Options{Arguments: audit.KeepFull, Gate: gateName})
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := gate.New(program, gate.WithRecorder(s.Recorder()), gate.WithDenyMode(gate.DenyToolResult), gate.WithApprover(anna{}), gate.WithClock(now))
	if err != nil {
		return err
	}
	for line := range strings.Lines(calls) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		_, err := g.Decide(ctx, stopgate.Call{
			Session: stopgate.SessionID(words[0]), Tool: stopgate.ToolName(words[1]), Args: []byte(words[2]), Principal: "local", Surface: stopgate.SurfaceLibrary,
		})
		if err != nil {
			return err
		}
		o := session.Owner{Principal: "local", Session: stopgate.SessionID(words[0])}
		fact := session.Fact{Kind: session.Denied, At: 1_795_000_000_000, Tool: stopgate.ToolName(words[1]), Code: stopgate.CodeRuleMatched}
		err = s.Update(ctx, o, fact.Keys(), func(session.State) (gate.Change, error) {
			return gate.Change{Facts: []session.Fact{fact}}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Proves S13, S25, M34: verify shows a row that was changed behind the store's back, and columns that no longer find a row.
func TestVerifyFindsAChangedStore(t *testing.T) {
	flip := func(seq int) func(*sql.DB) error {
		return func(db *sql.DB) error {
			var stored []byte
			if err := db.QueryRow("SELECT stored FROM audit_rows WHERE seq = ?", seq).Scan(&stored); err != nil {
				return err
			}
			stored[len(stored)/2] ^= 1
			_, err := db.Exec("UPDATE audit_rows SET stored = ? WHERE seq = ?", stored, seq)
			return err
		}
	}
	do := func(text string) func(*sql.DB) error {
		return func(db *sql.DB) error {
			_, err := db.Exec(text)
			return err
		}
	}
	for name, c := range map[string]struct {
		change func(*sql.DB) error
		want   string
	}{
		"nothing":   {do("SELECT 1"), ""},
		"a row":     {flip(1), "chain is broken at line"},
		"the last":  {flip(2), "NOT WHOLE"},
		"its class": {do(`UPDATE audit_classes SET members = replace(members, '"status":"denied"', '"status":"Denied"')`), `"status":"Denied"`},
		"no class":  {do("UPDATE audit_rows SET class = NULL WHERE seq = 2"), "row 2 does not fit the columns that find it: it has no class"},
		"its time":  {do("UPDATE audit_rows SET time = 0 WHERE seq = 1"), "1970-01-01"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			if err := seedStore(path, "", "p.toml", "version = 1\n[tools.t.policy]\nrun = \"deny\"\n", "s1 t {}\ns1 t {}\n"); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err == nil {
				err = errors.Join(c.change(db), db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			var out, talk strings.Builder
			code := run([]string{"log", "verify", path}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
			if want := c.want != ""; (code == cli.ExitTrouble) != want || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit code %d, output %s%s", code, &out, &talk)
			}
		})
	}
}

// anna approves everything but what contains "no".
type anna struct{}

func (anna) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true}
}

func (anna) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, err := q.Complete(ctx)
	if strings.Contains(v.Args, "no") {
		return v.Decline("anna"), err
	}
	return v.Approve("anna"), err
}

// Proves K60, Q13: log show explains a recorded call under the data that its session
// had when it was opened, whatever was set since, as explain does with that data.
func TestLogShowsTheDataOfThen(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	path, policyFile := filepath.Join(dir, "s.db"), filepath.Join(dir, "p.toml")
	text := `version = 1
[tools.deploy.policy]
run = [ { mode = "deny", when = { session = "/frozen", const = true } }, { mode = "unattended" } ]
`
	if err := os.WriteFile(policyFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program, mistakes := prove.Compile([]policy.Source{{Name: policyFile, Text: []byte(text), Trusted: true}}, policy.Options{})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{Records: rows.Options{Arguments: audit.KeepFull}})
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1_795_000_000_000)
	g, err := gate.New(program, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult),
		gate.WithClock(func() time.Time { return time.UnixMilli(now) }))
	if err != nil {
		t.Fatal(err)
	}
	o := session.Owner{Principal: "local", Session: "s"}
	tell := func(data string) {
		if now++; g.SetData(ctx, o, []byte(data)) != nil {
			t.Fatal("the data were not set")
		}
	}
	call := func() stopgate.ProposalID {
		now++
		out, err := g.Decide(ctx, stopgate.Call{Session: o.Session, Tool: "deploy", Args: []byte(`{}`), Principal: "local", Surface: stopgate.SurfaceLibrary})
		if err != nil {
			t.Fatal(err)
		}
		return out.Proposal
	}
	first := call()
	tell(`{"frozen":true}`)
	second := call()
	tell(`{"frozen":false}`)
	third := call()
	tell(`{"frozen":1}`)
	now-- // the call comes in the same millisecond
	tied := call()
	o.Session = "once"
	once := call()
	tell(`{"frozen":true}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	show := func(id stopgate.ProposalID, flags ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		root := commands.New(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		root.SetArgs(append([]string{"log", "show", string(id), "--policy", policyFile}, flags...))
		if err := root.Execute(); err != nil {
			t.Fatalf("%v %s", err, errs.String())
		}
		return out.String()
	}
	store := []string{"--store", "sqlite:" + path}
	for _, test := range []struct {
		id           stopgate.ProposalID
		flags        []string
		says, listed string
	}{
		{first, store, "which nobody knows here", "says deny"},
		{once, store, "look at the session's data: {}", "says deny"}, // what is missing stays in doubt
		{second, store, `look at the session's data: {"frozen":true}`, "says deny"},
		{third, store, `look at the session's data: {"frozen":false}`, "says unattended"},
		{tied, store, "which nobody knows here", "says deny"},
		{tied, append(store, "--session-data", `{"frozen":1}`), `look at the session's data: {"frozen":1}`, "says unattended"},
	} {
		if out := show(test.id, test.flags...); !strings.Contains(out, test.says) || !strings.Contains(out, test.listed) {
			t.Errorf("%s %q:\n%s\nwant %q and %q", test.id, test.flags, out, test.says, test.listed)
		}
	}
	if out := show(second, append(store, "--format", "json")...); !strings.Contains(out, `"session_data":{"frozen":true}`) {
		t.Errorf("as JSON: %s", out)
	}
}
