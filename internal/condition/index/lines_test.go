package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

// drawCommand returns a random condition on command lines.
func drawCommand(r *rand.Rand, restrictive bool) condition.Spec {
	program := func() string {
		return pick(r, "git", "rm", "make", "npm", "tool.exe", "tool.exe.exe", "./run.sh", "bin/Build", "sh", "cat", "xargs", "K")
	}
	words := func() string {
		return pick(r, "", " status", " status -s", " run x", " -rf x", " push origin main", " a=b", " x.exe", " ls", " -c")
	}
	s := condition.Spec{Kind: pick(r, condition.Const, condition.Enum, condition.Prefix, condition.Usage, condition.Usage, condition.Usage, condition.Glob, condition.Glob)}
	if r.IntN(12) == 0 {
		s.Kind = pick(r, condition.Pattern, condition.Suffix)
	}
	for range 1 + r.IntN(2) {
		text := program() + words()
		switch s.Kind {
		case condition.Usage:
			text += pick(r, "", " **", " * x", " [-f] **", " [-n *] main", " [-n main | -f] **", " {a,b} **", " [ab]c x", " <command>", " -- x")
			if restrictive {
				text += pick(r, "", " <system>")
			}
			text = strings.Replace(text, "git ", pick(r, "git ", "git ", "git ", "git ", "{git,hg} ", "g* "), 1)
		case condition.Glob:
			text += pick(r, "*", " *", " * x", " s?atus *", " {a,b} *", " [ab]*", "  x *", " * main", "")
		case condition.Pattern:
			text = pick(r, "^git ", "rm.*x$", "status", "^(make|npm)$")
		case condition.Suffix:
			text = pick(r, "x", " main", "status")
		default:
			if restrictive {
				text += pick(r, "", "", "", "", "", "", "", " | sh", ` "q"`, " $X", " > f")
			}
		}
		s.Values = append(s.Values, str(text)...)
		if s.Kind != condition.Enum && s.Kind != condition.Usage {
			break
		}
	}
	return s
}

// drawLine returns a random command line, often one that names a program of a condition in a way that
// is not plain.
func drawLine(r *rand.Rand) string {
	word := func() string {
		return pick(r, "status", "-s", "run", "x", "-rf", "push", "origin", "main", "a=b", "a", "b", "ls", "-c", "--", "'status'", `"run x"`, "st\\atus", "$X", "*.go", "x.exe", "é", "stat\u200bus",
			"'rm -rf x'", "A='git status'", "$(rm -rf x)", "-f", "-n", "main\t", "/etc", "")
	}
	program := func() string {
		return pick(r, "git", "rm", "make", "npm", "tool", "TOOL.EXE", "tool.exe.exe.exe", "./run.sh", "/usr/bin/git", "bin/build", "git", "npm", "make", "rm", `"git status"`, `g"i"t`, pick(r, "g*t", "git"), "$PROGRAM", "\u212a", "cat", "sh", "ｒｍ", "k", "K", " rm")
	}
	var b strings.Builder
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteString(pick(r, " && ", " | ", "; ", "\n", " || "))
		}
		b.WriteString(pick(r, "", "", "", "", "timeout 5 ", "xargs ", "env A=1 ", "sudo -u x ", "sh -c '", "X=1 ", "nohup ", "xargs -n1 git ", "time ", "if ", "Y='rm -rf x' ", "find . -exec "))
		b.WriteString(program())
		for range r.IntN(5) {
			b.WriteString(" " + word())
		}
		b.WriteString(pick(r, "", "", "", "'", " > f", " <<E\nrm -rf x\nE", " \\;"))
	}
	switch r.IntN(300) {
	case 0:
		return b.String() + strings.Repeat("; git status", 70)
	case 1, 2:
		return b.String() + "\xff"
	case 3, 4:
		return strings.Repeat("A=b=c ", 300) + b.String()
	}
	return b.String()
}

// Commands that an index of command lines finds are those that each condition alone holds for, and the
// facts that are unknown are the same: the look-up only chooses which conditions are evaluated.
func TestLinesAgreeWithMatchers(t *testing.T) {
	rounds, hits, chosen, possible := 100, 0, 0, 0
	if testing.Short() {
		rounds = 40
	}
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 7))
		restrictive := round%2 == 0
		target := condition.Target{Type: schema.String, Annotation: schema.Command}
		var all []*match.Matcher
		var keys [][]condition.CommandKey
		for len(all) < 20+80*(round%8%3) {
			s := drawCommand(r, restrictive)
			s.Definition = kinds.Table().Define(s.Kind)
			m, err := match.Compile(s, target, restrictive, project)
			if err != nil {
				continue
			}
			all, keys = append(all, m), append(keys, kinds.Table().CommandKeys(&s))
		}
		x := index.NewLines(restrictive, kinds.Table().Line, func(id int32) []*match.Matcher { return []*match.Matcher{all[id]} })
		for i := range all {
			x.Add(int32(i), keys[i])
		}
		x.Build()
		for range 60 {
			line := drawLine(r)
			v := valueOf(line)
			if r.IntN(8) == 0 {
				v.ResetWords([]byte(line), [][]byte{[]byte("git"), []byte("status"), []byte(line)}, r.IntN(4) > 0)
			}
			found := x.Find(v, nil)
			chosen, possible = chosen+len(found), possible+len(all)
			var want condition.Unknown
			for n := range kinds.Table().Line(v).Commands() {
				var got, each []int32
				for _, at := range found {
					if id, _, hit := x.Judge(at, v, n); hit {
						got = append(got, id)
					}
				}
				for i, m := range all {
					if m.JudgeCommand(v, n) {
						each = append(each, int32(i))
					}
				}
				if hits += len(each); !slices.Equal(got, each) {
					t.Fatalf("round %d, restrictive %t, line %q, command %d: found %v, each alone %v\n%s", round, restrictive, line, n, got, each, listed(all, got, each))
				}
			}
			for _, m := range all {
				if m.MayBeUnknown() {
					want |= m.Unknown(v)
				}
			}
			if got := x.Unknown(v, found); got != want {
				t.Fatalf("round %d, line %q: unknown %b, want %b", round, line, got, want)
			}
		}
	}
	t.Logf("%d conditions hold, %d of %d are evaluated", hits, chosen, possible)
	if hits < 100*rounds || 3*chosen > 2*possible {
		t.Error("the generator has gone stale")
	}
}

// listed lists the conditions of which only one evaluation holds.
func listed(all []*match.Matcher, a, b []int32) string {
	var out strings.Builder
	for i, m := range all {
		if slices.Contains(a, int32(i)) != slices.Contains(b, int32(i)) {
			fmt.Fprintf(&out, "%s %q\n", m.Kind(), m.Written())
		}
	}
	return out.String()
}

func valueOf(line string) *condition.Value {
	v := new(condition.Value)
	v.Reset([]byte(line))
	return v
}
