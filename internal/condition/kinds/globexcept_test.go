package kinds_test

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// An exception may begin a name, which is never empty, or be the complete name.
func TestExceptionsFirst(t *testing.T) {
	for glob, values := range map[string]map[string]bool{
		"**/!(ca|*-ca).pem":       {"server.pem": true, "a/x.pem": true, "ca.pem": false, "a/my-ca.pem": false, "ca.pem.bak": false, "CA.pem": true, "a/ca.pem/x.pem": true, "ca2.pem": true},
		"**/!(i18n|locale)/*.key": {"a/en.key": true, "i18n/en.key": false, "a/i18n/en.key": false, "i18n/x/en.key": true, "en.key": false, "/en.key": false},
		"a/!(b)":                  {"a/c": true, "a/b": false, "a": false, "a/bc": true, "a/b/c": false},
	} {
		grant := compile(t, spec(condition.Glob, glob), aPath, permissive, project)
		guard := compile(t, spec(condition.Glob, glob), aPath, restrictive, project)
		for value, want := range values {
			if got := grant.Match([]byte(value)); got != want {
				t.Errorf("%s permits %s: %v", glob, value, got)
			}
			if want && !guard.Match([]byte(value)) {
				t.Errorf("%s does not catch %s", glob, value)
			}
		}
	}
}

// Proves K18, C6, C8, C15: an exception excludes the names that it lists, and no other spelling of
// names that the glob matches.
func TestK18_Exceptions(t *testing.T) {
	const glob = "**/.env!(.example|*.sample)"
	grant := compile(t, spec(condition.Glob, glob), aPath, permissive, project)
	guard := compile(t, spec(condition.Glob, glob), aPath, restrictive, project)
	for value, want := range map[string][2]bool{ // grant, catch
		".env":                    {true, true},
		".env.local":              {true, true},
		".env.exampl":             {true, true},
		".env.examples":           {true, true},
		".env.example.local":      {true, true},
		".envrc":                  {true, true},
		"a/b/.env.production":     {true, true},
		".env.sampl":              {true, true},
		".env.sample.bak":         {true, true},
		".env.example":            {false, false},
		"a/.env.example":          {false, false},
		"/srv/proj/.env.example":  {false, false},
		"../.env.example":         {false, false},
		".env.sample":             {false, false},
		".env.local.sample":       {false, false},
		".env.sample.sample":      {false, false},
		"env":                     {false, false},
		"x.env":                   {false, false},
		".env.EXAMPLE":            {true, true}, // another name if case is significant
		".ENV.local":              {false, true},
		".ENV.Sample":             {false, false},
		".env.example/../.env":    {true, true},
		".env/../.env.example":    {false, false},
		".env.example/../../.env": {false, true},
		".env.example\x00":        {false, true}, // unknown which file is opened
		".env:.example":           {false, true},
		".env%2eexample":          {false, true},
		".env.example/x":          {false, false},
		".env.local/x":            {false, true},
	} {
		if got := [2]bool{grant.Match([]byte(value)), guard.Match([]byte(value))}; got != want {
			t.Errorf("%q: grant, catch %v, want %v", value, got, want)
		}
	}
	line := compile(t, spec(condition.Glob, glob), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, project)
	for command, want := range map[string]bool{
		"cat .env.example": false, "cp .env.example .env": true, "cp .env.example x": false, "cat .env*": true, "cat .env.ex*": true, "cat .env.{example,local}": true,
		"cat .env.{example,x.sample}": true, "cd a && cat .env.sample": false, "diff .env.example .env": true,
	} {
		if got := line.Match([]byte(command)); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}

// Proves K18: an exception matches the same names as a member-by-member comparison.
func TestK18_ExceptionsAreTheRest(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab.")), 0, 5, -1)
	property.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab.*")), 0, 5, -1), 1, 4).Draw(t, "members")
		if len(members) == 1 && members[0] == "" {
			members[0] = "a"
		}
		m, err := tryCompile(spec(condition.Glob, "x!("+strings.Join(members, "|")+")y"), aPath, permissive, project)
		if err != nil {
			t.Fatal(err)
		}
		middle := letters.Draw(t, "middle")
		want := true
		for _, member := range members {
			if out, err := path.Match(member, middle); err != nil {
				t.Fatal(err)
			} else if out {
				want = false
			}
		}
		if got := m.Match([]byte("x" + middle + "y")); got != want {
			t.Errorf("x!(%v)y on %q: %v, want %v", members, "x"+middle+"y", got, want)
		}
	})
}
