package stopgate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
)

// Groups are canonical values: order and repetition of the names do not matter, and "none" is not
// "unknown".
func TestGroups(t *testing.T) {
	one, err := stopgate.GroupsOf("payments", "Domain Admins", "payments")
	if err != nil {
		t.Fatal(err)
	}
	two, err := stopgate.GroupsOf("Domain Admins", "payments")
	if err != nil || one != two {
		t.Errorf("%v, %v: %v", one, two, err)
	}
	if names := one.Names(); !slices.Equal(names, []string{"Domain Admins", "payments"}) {
		t.Error(names)
	}
	for name, in := range map[string]bool{"payments": true, "Domain Admins": true, "Admins": false, "pay": false, "": false, "\n": false, "Domain Admins\npayments": false} {
		if one.Contains(name) != in {
			t.Errorf("%q: %t", name, !in)
		}
	}
	none, err := stopgate.GroupsOf()
	if err != nil || !none.Known() || none.Names() != nil || none == (stopgate.Groups{}) || (stopgate.Groups{}).Known() {
		t.Errorf("%v: %v", none, err)
	}
}

func TestGroupsBounds(t *testing.T) {
	many := make([]string, stopgate.MaxGroups+1)
	for i := range many {
		many[i] = strings.Repeat("g", i%stopgate.MaxGroupName+1)
	}
	for _, names := range [][]string{{""}, {"a\nb"}, {"a\x00"}, {"a\u202eb"}, {"\xff"}, {strings.Repeat("g", stopgate.MaxGroupName+1)}, many} {
		if g, err := stopgate.GroupsOf(names...); err == nil || g.Known() {
			t.Errorf("%q is accepted", names[0])
		}
	}
}

func TestGroupsJSON(t *testing.T) {
	for text, want := range map[string]string{`["b","a","b"]`: `["a","b"]`, `[]`: `[]`, `null`: `null`} {
		var g stopgate.Groups
		if err := json.Unmarshal([]byte(text), &g); err != nil {
			t.Fatal(err)
		}
		if out, err := json.Marshal(g); err != nil || string(out) != want {
			t.Errorf("%s: %s, %v", text, out, err)
		}
	}
	for _, text := range []string{`[""]`, `"a"`, `[7]`, `["a\n"]`} {
		g, _ := stopgate.GroupsOf("a")
		if err := json.Unmarshal([]byte(text), &g); err == nil {
			t.Errorf("%s is read as %v", text, g.Names())
		}
	}
}
