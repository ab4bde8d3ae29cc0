package index_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// More texts make no answer more permissive: a value that may occur in texts of the sources may still
// occur in them; what was not certain becomes certain only by a text that has one of the sources; and
// texts of other sources change nothing, however many they are.
func TestMoreTextsAreNotMorePermissive(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		ix := index.New(key, index.Options{Budget: 4000})
		for i := range rapid.IntRange(1, 6).Draw(t, "batches") {
			ix.Add(drawBatch(t, i))
		}
		value, q := []byte(phrase(3).Draw(t, "value")), drawQuery(t)
		before := ix.View()
		was, read := before.Find(value, q), before.Read(q, nil, false)
		b := drawBatch(t, 100)
		b.Know = 0
		for range rapid.IntRange(0, 3).Draw(t, "floods") {
			b.Texts = append(b.Texts, index.Text{Text: []byte(strings.Repeat("flood ", 400)), Sources: []flow.Source{flow.Tool}})
		}
		for i := range b.Texts {
			// The trust of the reader: texts of these sources are trusted.
			b.Texts[i].Trusted = !slices.Contains(b.Texts[i].Sources, flow.Tool)
		}
		ix.Add(b)
		after := ix.View()
		now := after.Find(value, q)
		if was.Possible && !now.Possible {
			t.Fatalf("Find(%q, %+v) was %+v, then %+v", value, q, was, now)
		}
		if read && !after.Read(q, nil, false) {
			t.Fatalf("Read(%+v) was true, then false", q)
		}
		if again := before.Find(value, q); !reflect.DeepEqual(again, was) {
			t.Fatalf("a view has changed: %+v, then %+v", was, again)
		}
		touched := slices.ContainsFunc(b.Texts, func(x index.Text) bool {
			n := naiveText{Text: x}
			possible, _ := n.of(q)
			return possible
		})
		if !touched && now.Certain && !was.Certain {
			t.Fatalf("Find(%q, %+v) became certain by texts of other sources", value, q)
		}
	})
}

// Untrusted texts never take the place of trusted ones, in one batch or in many.
func TestUntrustedTextsDoNotDropTrustedOnes(t *testing.T) {
	for name, batches := range map[string][]int{"one batch": {100}, "many batches": slices.Repeat([]int{1}, 100)} {
		ix := index.New(key, index.Options{Budget: 1 << 16})
		ix.Add(&index.Batch{Know: everything, Person: true, Texts: []index.Text{text("pay bob@example.com", flow.User)}})
		for _, n := range batches {
			b := &index.Batch{Result: true, Tool: "fetch"}
			for range n {
				b.Texts = append(b.Texts, text("mallory@evil.example "+strings.Repeat("flood ", 2000), flow.Tool))
			}
			ix.Add(b)
		}
		v := ix.View()
		if f := v.Find([]byte("bob@example.com"), query(flow.Email, flow.User)); !f.Certain || f.Doubt != 0 {
			t.Errorf("%s: the user's: %+v", name, f)
		}
		q := query(flow.Email, flow.Tool)
		if f := v.Find([]byte("carol@example.com"), q); f.Certain || !f.Possible || f.Doubt != flow.Dropped {
			t.Errorf("%s: what was dropped: %+v", name, f)
		}
		if f := v.Find([]byte("mallory@evil.example"), q); !f.Certain {
			t.Errorf("%s: the latest texts: %+v", name, f)
		}
		if _, length := ix.Size(); length > 1<<16 {
			t.Errorf("%s: %d bytes of text are kept", name, length)
		}
	}
}
