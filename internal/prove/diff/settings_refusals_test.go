package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// Proves I25, K7: where a rule skips a call that a guard denies, the order of the arguments
// decides which of them answers. A complete comparison lists both changes; one that does not
// know them is not complete.
func TestDiffWhereRefusalsMeet(t *testing.T) {
	const head = "version = 1\n[tools.t.parameters]\na = { type = \"path\" }\nb = { type = \"string\" }\n[[guard]]\non = \"path\"\nglob = \"secrets/**\"\nmode = \"MODE\"\n[tools.t.policy]\n"
	rules := func(guard, mode string) string {
		return strings.Replace(head, "MODE", guard, 1) + "run = [ { arg = \"/b\", const = \"x\", mode = \"" + mode + "\" }, { mode = \"ask\" } ]\n"
	}
	for _, c := range []struct {
		before, after string
		complete      bool
	}{
		{rules("deny", "ask"), rules("deny", "skip"), true},
		{rules("deny", "skip"), rules("deny", "skip"), true},
		{rules("skip", "ask"), rules("skip", "deny"), false},
		{rules("deny", "ask"), rules("deny", "deny"), true},
	} {
		side := func(text string) policy.Source {
			return policy.Source{Name: "p.toml", Text: []byte(text), Trusted: true}
		}
		d, old, now := diff.Files(side(c.before), side(c.after), policy.Options{}, nil)
		if d == nil {
			t.Fatal(old, now)
		}
		if d.Complete != c.complete {
			t.Errorf("complete %v, want %v:\n%s\n%s", d.Complete, c.complete, c.before, c.after)
		}
		loosens := slices.ContainsFunc(d.Changes, func(c diff.Change) bool { return c.From == stopgate.Deny && c.To == stopgate.Skip })
		if skips := strings.Contains(c.after, `"skip"`) && c.before != c.after; c.complete && skips != loosens {
			t.Errorf("deny to skip listed: %v\n%s\n%s", loosens, c.before, c.after)
		}
	}
}

// Proves S36: the setting of a guard for files below directories is part of the meaning of a
// policy.
func TestBelowIsMeant(t *testing.T) {
	hash := func(below string) string {
		p, _ := parser.Parse(kinds.Table(), "p.toml", []byte("version = 1\n[[guard]]\non = \"path\"\nglob = \"x\"\nmode = \"deny\"\n"+below))
		return syntax.Hash(p)
	}
	if hash("") != hash("below = \"ask\"\n") || hash("") == hash("below = \"ignore\"\n") {
		t.Error("the hash of a policy does not follow below")
	}
}
