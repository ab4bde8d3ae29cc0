package usage_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// Proves Q16: usages that cover another one, and those that have no command in common.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		others string // separated by ;
		text   string
		covers bool
	}{
		{"cat **", "cat *", true},
		{"cat *", "cat **", false},
		{"{cat,tac} [-*] **", "cat [-n] x", true},
		{"cat [-*] **;tac **", "{cat,tac} **", true},
		{"cat [-*] **", "cat [-n *]", false},
		{"cat [-n *|-x]", "cat [-n *]", true},
		{"cat [-n *]", "cat [-n {1,2}]", false},
		{"cat [-*] [!-o] **", "cat [-*] **", false},
		{"cat [-*] **", "cat [-*] [!-o] **", true},
		{"cat [-*] **", "cat [--] **", false},
		{"git log [-*] **", "git [-p] log", false},
		{"git [-p] {log,show} **", "git log [-p]", true},
		{"{sh,bash} [-c|-e] <command>", "sh [-c] <command>", true},
		{"sh [-c] <command>", "sh [-c] **", false},
		{"cd <root>", "cd <below>", false},
		{"x {[a-z]*} **", "x {[a-z]*}", true},
		{"x *", "x {[a-z]*}", false},
	} {
		if got := usage.Covers(strings.Split(c.others, ";"), c.text); got != c.covers {
			t.Errorf("%q covers %q: %v", c.others, c.text, got)
		}
	}
	for _, c := range []struct {
		text, other     string
		disjoint, apart bool
	}{
		{"git {log,diff} [-*|--] [!--output] **", "git {push,reset} **", true, false},
		{"git [-p] {log,diff}", "git {push,reset}", true, true},
		{"git [-C *] log", "git push", false, false},
		{"git **", "git push **", false, false},
		{"git {log,push}", "git push", false, false},
		{"command rm", "rm **", true, false},
		{"cat **", "CAT **", false, false},
		{"cat **", "tac **", true, false},
		{"cat x", "tac **", true, true},
		{"cat x", "cat x y", true, true},
		{"cat [-n *] x", "cat x", false, false},
		{"cat *", "cat x", false, false},
		{"{cat,tac} a", "* b", true, true},
		{"timeout 5 <command>", "rm **", false, false},
	} {
		if disjoint, apart := usage.Disjoint(c.text, c.other), usage.Apart(c.text, c.other); disjoint != c.disjoint || apart != c.apart {
			t.Errorf("%q and %q: disjoint %v, apart %v", c.text, c.other, disjoint, apart)
		}
	}
}

// Proves Q16: no command shows that such an answer is wrong.
func TestCompareIsTrue(t *testing.T) {
	parts := []string{"a", "b", "{a,b}", "*", "**", "[-x]", "[-*]", "[-v *]", "[--]", "[!-y]", "[-v a|-x]", "{[a-z]*}", "-x", "{a,-x}", "<root>"}
	words := []string{"a", "b", "-x", "-y", "-v", "-xv", "-va", "--", "'a'", "c", "/r", "$X", "-", "a*"}
	covered, apart := 0, 0
	root := func(_ *shell.Command, w *shell.Word) bool { return w.Literal && string(w.Text) == "/r" }
	for seed := range 4000 {
		g := rand.New(rand.NewPCG(uint64(seed), 3))
		random := func(from []string, most int) string {
			list := []string{"p"}
			for range g.IntN(most) {
				list = append(list, from[g.IntN(len(from))])
			}
			return strings.Join(list, " ")
		}
		one, other := random(parts, 4), random(parts, 4)
		if g.IntN(2) == 0 {
			other = one + strings.TrimPrefix(random(parts, 2), "p")
		}
		first, err := usage.Compile([]string{one}, false, usage.Placeholders{Root: root})
		second, fault := usage.Compile([]string{other}, false, usage.Placeholders{Root: root})
		if err != nil || fault != nil {
			continue
		}
		covers, disjoint, distinct := usage.Covers([]string{other}, one), usage.Disjoint(one, other), usage.Apart(one, other)
		if covers {
			covered++
		}
		if disjoint {
			apart++
		}
		for range 60 {
			var line shell.Line
			line.Read([]byte(random(words, 6)))
			if len(line.Commands) != 1 || len(line.Commands[0].Words) == 0 {
				continue
			}
			certain := first.Grants(&line, 0, nil)
			if covers && certain && !second.Grants(&line, 0, nil) {
				t.Errorf("%q does not cover %q: %v", other, one, line.Commands[0].Words)
			}
			if disjoint && certain && second.Grants(&line, 0, nil) {
				t.Errorf("%q is not disjoint from %q: %v", one, other, line.Commands[0].Words)
			}
			if distinct && certain && suspects(second, line.Commands[0].Words) {
				t.Errorf("%q is not apart from %q: %v", one, other, line.Commands[0].Words)
			}
		}
	}
	t.Logf("%d covered, %d disjoint", covered, apart)
	if covered < 50 || apart < 50 {
		t.Errorf("only %d covered, %d disjoint", covered, apart)
	}
}
