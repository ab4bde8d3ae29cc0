package inclusion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/schema"
)

// A condition does not hold for a value with a key that is not among its keys.
func TestKeysLeaveNothingOut(t *testing.T) {
	for _, test := range []struct {
		annotation schema.Annotation
		values     []string
		specs      map[condition.Kind][]string
	}{
		{schema.Command, []string{
			"git status", "GIT status", "git.exe status", "/usr/bin/git status", "./git status", "env git status", "sudo git status", "A=1 git status", "x; git status",
			"g'i't status", "xargs git status", "find . -exec git status", "nice -n 5 git status", "time git status", "git  status", "git -C status status", "git --status", "git commit-status x", "git Status", "make a b", "make  a", "status git", "", " ", "git", "sh -c git", "bash git", "gіt status",
			"if git", "g*t status", "$X status", "git status > x", "rm -rf build", "timeout 5 rm -rf build", "command rm -rf build", "busybox rm -rf build", "rm.exe -rf build",
		}, map[condition.Kind][]string{
			condition.Usage:  {"git status", "git **", "git [-C *|--x status] status", "git [-C *] status **", "rm -rf **", "{git,rm} **", "g* **", "env **", "git.exe **", "/usr/bin/git status"},
			condition.Prefix: {"git", "git status", "rm -rf", "/usr/bin/git", "GIT"},
			condition.Const:  {"git status", "rm -rf build"},
			condition.Enum:   {"git status", "git"},
			condition.Glob:   {"git *", "git st*", "git *us", "git status*", "g* status", "make a *", "make * b", "git ?tatus"},
		}},
		{schema.URL, []string{
			"https://a.example.com/x", "https://A.example.com/x", "https://a.example.com:443/x", "https://a.example.com.", "https://u@a.example.com/", "https://b.example.com/?a.example.com", "//a.example.com/x",
			"a.example.com", "https://a%2eexample.com/", "https:\\\\a.example.com/x", "javascript:a.example.com", "https://a.example.com/x/../y", "https://b.example.com/x",
		}, map[condition.Kind][]string{
			condition.Host:   {"a.example.com", "*.example.com", "b.example.com:*", "a.example.com:*"},
			condition.Prefix: {"https://a.example.com/x", "https://b.example.com"},
			condition.Const:  {"https://a.example.com/x"},
			condition.Scheme: {"https"},
		}},
	} {
		keyed, distinguished := 0, 0
		for kind, literals := range test.specs {
			for _, literal := range literals {
				for _, restrictive := range []bool{false, true} {
					m, err := tryCompile(condition.Spec{Kind: kind, Values: []condition.Literal{{Kind: condition.LiteralString, Text: literal}}}, condition.Target{Type: schema.String, Annotation: test.annotation}, restrictive, condition.Env{})
					if err != nil {
						continue
					}
					keys := inclusion.Keys(m)
					if keys == nil {
						continue
					}
					keyed++
					for _, text := range test.values {
						var v condition.Value
						v.Reset([]byte(text))
						key, ok := inclusion.Key(&v, test.annotation)
						holds := m.Judge(&v)
						if test.annotation == schema.Command {
							holds = m.JudgeCommand(&v, 0)
						}
						if part := inclusion.Part(m); ok && holds && !strings.Contains(text, part) {
							t.Errorf("%v %q (restrictive %t) has the part %q and holds for %q", kind, literal, restrictive, part, text)
						}
						if ok && !slices.Contains(keys, key) {
							distinguished++
							if holds {
								t.Errorf("%v %q (restrictive %t) has the keys %q and holds for %q, whose key is %q", kind, literal, restrictive, keys, text, key)
							}
						}
					}
				}
			}
		}
		if keyed == 0 || distinguished == 0 {
			t.Errorf("%v: %d conditions have keys, %d pairs are told apart", test.annotation, keyed, distinguished)
		}
	}
}
