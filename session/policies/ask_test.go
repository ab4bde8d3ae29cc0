package policies_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// A policy that asks objects to the same calls with the same code as its twin that denies, learns
// the same, and asks exactly where something is missing: it denies a call without its key, or one
// whose prerequisite is under way.
func TestAskingTwins(t *testing.T) {
	pair := func(name string, ask bool) session.Policy {
		switch name {
		case "require":
			p := policies.Require("c").After("a", "b").Key("/k").InvalidatedBy("d")
			if ask {
				p.Ask()
			}
			return p
		case "files":
			p := policies.ReadBeforeWrite().Reads("a").Writes("b", "c").InvalidatedBy("d").Key("/k")
			if ask {
				p.Ask()
			}
			return p
		}
		p := policies.Limit("a", "c").Calls(2).Key("/k")
		if ask {
			p.Ask()
		}
		return p
	}
	property.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{"require", "files", "limit"}).Draw(r, "policy")
		denies, asks := newBook(t, pair(name, false)), newBook(t, pair(name, true))
		for range rapid.IntRange(1, 8).Draw(r, "calls") {
			tool := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "tool")
			args := rapid.SampledFrom([]string{`{"k":"x"}`, `{"k":"y"}`, `{}`}).Draw(r, "args")
			kind := rapid.SampledFrom([]session.Kind{session.Succeeded, session.Failed, session.Finished, ""}).Draw(r, "end")
			d, a := denies.check(tool, args), asks.check(tool, args)
			missing := !d.Allowed && d.Code != stopgate.CodeKeyUnavailable && d.Code != stopgate.CodePrerequisitePending
			if d.Allowed != a.Allowed || d.Code != a.Code || d.Public != a.Public || d.Ask || a.Ask != missing || a.Ask && a.Detail == "" {
				r.Fatalf("%s %s %s: %+v, its twin that asks %+v", name, tool, args, d, a)
			}
			for _, b := range []*book{denies, asks} {
				if kind == "" {
					b.release(tool, args)
				} else {
					b.run(tool, args, kind)
				}
			}
		}
	})
}

// A question names every file and every key value that the policy objects to: an approval allows
// the objections that it showed.
func TestQuestionsNameAll(t *testing.T) {
	b := newBook(t, policies.ReadBeforeWrite().Reads("a").Writes("c").Key("/k/*").Ask())
	b.run("a", `{"k":["y"]}`, session.Succeeded)
	for args, want := range map[string]string{
		`{"k":["x","y"]}`:     "x was not read in this session",
		`{"k":["x","y","z"]}`: "x, z were not read in this session",
	} {
		if d := b.check("c", args); !d.Ask || d.Detail != want {
			t.Errorf("%s: %+v, want %q", args, d, want)
		}
	}
	b = newBook(t, policies.Limit("c").Calls(1).Key("/k/*").Ask())
	b.run("c", `{"k":["x"]}`, session.Succeeded)
	one := b.check("c", `{"k":["x","y"]}`)
	b.run("c", `{"k":["y"]}`, session.Succeeded)
	if both := b.check("c", `{"k":["x","y"]}`); !one.Ask || !both.Ask || one.Identity() == both.Identity() {
		t.Errorf("x: %q, x and y: %q", one.Detail, both.Detail)
	}
}
