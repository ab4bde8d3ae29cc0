package packs_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// free are the lists whose commands run without a question.
var free = []string{"look", "tools", "system", "local", "help", "write", "wrappers"}

// Every pack is a policy without a finding, in canonical layout, also together with the others, and
// states everything that it permits.
func TestPacks(t *testing.T) {
	names := packs.Names()
	if len(names) < 10 {
		t.Fatalf("packs %q", names)
	}
	for _, name := range names {
		p, ok := packs.Lookup(name)
		if !ok || p.Version < 1 || p.About == "" || !bytes.Equal(packs.Text("pack:"+name), p.Text) {
			t.Errorf("%s: %+v", name, p.Head)
		}
		file, mistakes := parser.Parse(kinds.Table(), p.File(), p.Text)
		if len(mistakes) > 0 {
			t.Errorf("%v", mistakes)
			continue
		}
		if text, err := parser.Format(kinds.Table(), p.File(), p.Text); err != nil || !bytes.Equal(text, p.Text) {
			t.Errorf("%s is not in its canonical layout: %v\n%s", name, err, text)
		}
		permits := false
		for r := range file.Rules() {
			permits = permits || r.Mode.Permissive() && r.Pack == ""
		}
		for _, l := range file.Lists {
			own := slices.ContainsFunc(l.ValuesAt, func(v *tomltree.Value) bool { return v.Range.Pack == 0 })
			permits = permits || own && slices.Contains(free, l.Name)
		}
		if permits != (len(p.Permits) > 0) {
			t.Errorf("%s permits %q, and by its rules: %t", name, p.Permits, permits)
		}
		checked(t, name)
		checked(t, "coding", name)
	}
	checked(t, names...)
	slices.Reverse(names)
	checked(t, names...)
}

// checked finds nothing in a policy that uses packs.
func checked(t *testing.T, names ...string) {
	t.Helper()
	text := []byte("version = 1\nuse = [\"" + strings.Join(names, `", "`) + "\"]\n")
	program, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: text, Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if program == nil || len(found) > 0 {
		t.Errorf("with %q: %v", names, found)
	}
}

func TestNoSuchPack(t *testing.T) {
	if p, ok := packs.Lookup("nothing"); ok || p.Name != "" || packs.Text("pack:nothing") != nil || packs.Text("coding") != nil {
		t.Errorf("%+v", p)
	}
}
