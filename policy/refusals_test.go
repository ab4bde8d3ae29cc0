package policy_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Proves I25, K7: where a rule skips what a guard denies, the order of the arguments says
// which of them answers: a change there is not called complete. One that changes neither is.
func TestDiffWhereRefusalsMeet(t *testing.T) {
	const head = "version = 1\n[tools.t.parameters]\na = { type = \"path\" }\nb = { type = \"string\" }\n[[guard]]\non = \"path\"\nglob = \"secrets/**\"\nmode = \"MODE\"\n[tools.t.policy]\n"
	rules := func(guard, mode string) string {
		return strings.Replace(head, "MODE", guard, 1) + "run = [ { arg = \"/b\", const = \"x\", mode = \"" + mode + "\" }, { mode = \"ask\" } ]\n"
	}
	for _, c := range []struct {
		before, after string
		complete      bool
	}{
		{rules("deny", "ask"), rules("deny", "skip"), false},
		{rules("deny", "skip"), rules("deny", "skip"), true},
		{rules("skip", "ask"), rules("skip", "deny"), false},
		{rules("deny", "ask"), rules("deny", "deny"), true},
	} {
		side := func(text string) policy.Source {
			return policy.Source{Name: "p.toml", Text: []byte(text), Trusted: true}
		}
		d, old, now := policy.Diff(side(c.before), side(c.after), policy.Options{})
		if d == nil {
			t.Fatal(old, now)
		}
		if d.Complete != c.complete {
			t.Errorf("complete %v, want %v:\n%s\n%s", d.Complete, c.complete, c.before, c.after)
		}
	}
}

// Proves S36: what a guard says about files below directories is part of what a policy
// means.
func TestBelowIsMeant(t *testing.T) {
	hash := func(below string) string {
		p, _ := syntax.Parse("p.toml", []byte("version = 1\n[[guard]]\non = \"path\"\nglob = \"x\"\nmode = \"deny\"\n"+below))
		return syntax.Hash(p)
	}
	if hash("") != hash("below = \"ask\"\n") || hash("") == hash("below = \"ignore\"\n") {
		t.Error("the hash of a policy does not follow below")
	}
}
