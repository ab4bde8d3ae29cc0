package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
)

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Output that nobody could read is no success, whoever writes it.
func TestFullDisk(t *testing.T) {
	atHome := t.TempDir()
	t.Setenv("HOME", atHome)
	for _, args := range [][]string{{"version"}, {"--version"}, {"help"}, {"--help"}, {"help", "decide"}, {"decide", "--help"}, {"completion", "bash"}, {"schema"}} {
		var talk strings.Builder
		if code := run(args, cli.Streams{In: strings.NewReader(""), Out: full{}, Err: &talk}); code != cli.ExitTrouble || !strings.Contains(talk.String(), "no space left") {
			t.Errorf("%v: exit %d, %s", args, code, &talk)
		}
		var out strings.Builder
		if code := run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}); code != cli.ExitOK || out.Len() == 0 {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}

// report answers, and says what it proposes.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	store := dir + "/s.db"
	calls := strings.Repeat("s t {\"a\":1}\n", 3) + "s t {\"a\":2}\ns u {\"x\":\"no\"}\n"
	if err := seedStore(store, "", "p.toml", "version = 1\n[tools.t.policy]\nrun = \"ask\"\n[tools.u.policy]\nrun = \"ask\"\n", calls); err != nil {
		t.Fatal(err)
	}
	var out, talk strings.Builder
	if code := run([]string{"report", store}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}); code != cli.ExitOK ||
		!strings.Contains(out.String(), "100.0 prompts per 100 calls: 5 of 5 calls were asked about, 4 approved; grants answered 0") ||
		!strings.Contains(out.String(), "a grant would have answered") {
		t.Errorf("exit %d: %s%s", code, &out, &talk)
	}
	for name, want := range map[string]string{"p.toml": "a rule can say so, above line 3; stopgate log show ", config.StarterPath: "in a policy of yours (stopgate init)"} {
		store := t.TempDir() + "/s.db"
		if err := seedStore(store, "", name, "version = 1\n[tools.t.policy]\nrun = \"ask\"\n", "s t {\"a\":1}\ns t {\"a\":2}\ns t {\"a\":3}\ns t {\"a\":4}\ns t {\"a\":5}\n"); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code := run([]string{"report", store}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}); code != cli.ExitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit %d: %s%s, want %q", name, code, &out, &talk, want)
		}
	}
	out.Reset()
	if code := run([]string{"report", store, "--format", "json", "--since", "1h"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}); code != cli.ExitOK ||
		!strings.Contains(out.String(), `"per_hundred":100,"rules":[{"tool":"t",`) {
		t.Errorf("exit %d: %s%s", code, &out, &talk)
	}
}
