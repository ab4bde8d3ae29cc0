package kept_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// additions have every member of every kind.
func additions() []kept.Addition {
	return []kept.Addition{
		{Known: flow.KnowsUser | flow.KnowsResults},
		{Message: &flow.Message{Source: flow.User, Text: []byte("a \xff b"), ID: "m1", Answer: true}},
		{Message: &flow.Message{Source: flow.Tool, Text: []byte{}, Opaque: true}},
		{Call: &kept.Call{Tool: "send", Args: []byte(`{"to":"x"}`)}},
		{Result: &flow.Result{Tool: "read", Call: "c", Proposal: "p", Args: []byte("{}"), Data: bytes.Repeat([]byte("x"), 300), Released: true, Failed: true, Opaque: true}},
		{Result: &flow.Result{Data: []byte("of no call")}},
		{Result: &flow.Result{Args: []byte{}, Data: []byte("of a call without arguments")}},
	}
}

func TestEveryAdditionIsReadBack(t *testing.T) {
	for i, a := range additions() {
		got, err := kept.Parse(a.Append(nil))
		if err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%d: %+v, %v; want %+v", i, got, err, a)
		}
	}
}

// No damage is read as another text, and none panics.
func TestDamageIsAnError(t *testing.T) {
	for i, a := range additions() {
		text := a.Append(nil)
		for n := range text {
			if _, err := kept.Parse(text[:n]); err == nil {
				t.Errorf("%d: the first %d of %d bytes are read", i, n, len(text))
			}
		}
		if _, err := kept.Parse(append(text, 0)); err == nil {
			t.Errorf("%d: a byte after the end is read", i)
		}
		text[0] = 9
		if _, err := kept.Parse(text); err == nil {
			t.Errorf("%d: another version is read", i)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, a := range additions() {
		f.Add(a.Append(nil))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := kept.Parse(text)
		if err != nil {
			return
		}
		again, err := kept.Parse(a.Append(nil))
		if err != nil || !reflect.DeepEqual(again, a) {
			t.Errorf("%+v becomes %+v, %v", a, again, err)
		}
	})
}

func TestRedactReachesEveryText(t *testing.T) {
	for i, a := range additions() {
		before := a.Append(nil)
		copied, err := kept.Parse(bytes.Clone(before))
		if err != nil {
			t.Fatal(err)
		}
		changed := copied.Redact(func([]byte) ([]byte, bool) { return []byte("-"), true })
		if want := i != 0 && i != 2; changed != want {
			t.Errorf("%d: changed %t, want %t", i, changed, want)
		}
		text := copied.Append(nil)
		for _, secret := range []string{"a \xff b", `{"to"`, "xxx", "of no call", "without arguments"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%d: %q is left", i, secret)
			}
		}
		if !bytes.Equal(a.Append(nil), before) {
			t.Errorf("%d: redaction changed the original", i)
		}
	}
}

func TestLogID(t *testing.T) {
	one, two := kept.LogID([]byte("k1")), kept.LogID([]byte("k2"))
	if one == two || len(one) != 24 {
		t.Error(one, two)
	}
}
