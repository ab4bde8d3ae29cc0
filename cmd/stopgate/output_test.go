package main

import (
	"errors"
	"strings"
	"testing"
)

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Proves FM1: output that nobody could read is no success, whoever writes it.
func TestFullDisk(t *testing.T) {
	atHome := t.TempDir()
	t.Setenv("HOME", atHome)
	for _, args := range [][]string{{"version"}, {"--version"}, {"help"}, {"--help"}, {"help", "decide"}, {"decide", "--help"}, {"completion", "bash"}, {"schema"}} {
		var talk strings.Builder
		if code := run(args, streams{in: strings.NewReader(""), out: full{}, err: &talk}); code != exitTrouble || !strings.Contains(talk.String(), "no space left") {
			t.Errorf("%v: exit %d, %s", args, code, &talk)
		}
		var out strings.Builder
		if code := run(args, streams{in: strings.NewReader(""), out: &out, err: &talk}); code != exitOK || out.Len() == 0 {
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
	if err := seedStore(store, "p.toml", "version = 1\n[tools.t.policy]\nrun = \"ask\"\n[tools.u.policy]\nrun = \"ask\"\n", calls); err != nil {
		t.Fatal(err)
	}
	var out, talk strings.Builder
	if code := run([]string{"report", store}, streams{in: strings.NewReader(""), out: &out, err: &talk}); code != exitOK ||
		!strings.Contains(out.String(), "100.0 prompts per 100 calls: 5 of 5 calls were asked about, 4 approved; grants answered 0") ||
		!strings.Contains(out.String(), "a grant would have answered") {
		t.Errorf("exit %d: %s%s", code, &out, &talk)
	}
	out.Reset()
	if code := run([]string{"report", store, "--format", "json", "--since", "1h"}, streams{in: strings.NewReader(""), out: &out, err: &talk}); code != exitOK ||
		!strings.Contains(out.String(), `"per_hundred":100,"rules":[{"tool":"t",`) {
		t.Errorf("exit %d: %s%s", code, &out, &talk)
	}
}
