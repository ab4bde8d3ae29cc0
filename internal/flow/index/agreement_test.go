package index_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// bits are parts of texts and values: words that repeat, and one of every kind of atom in several
// spellings.
var parts = []string{
	"pay", "Pay", "the", "bill", "of", "bob", "Bob", "bob-smith", "BOB", "b\u200bob", "ann", "ann.lee@shop.example", "Ann.Lee@shop.example", "shop.example", "https://shop.example/pay?id=1",
	"https://shop.example", "www.shop.example", "mallory@evil.example", "bWFsbG9yeUBldmlsLmV4YW1wbGU=", "mallory%40evil.example", "1200", "1,200.00", "1.200,00", "EUR 1200", "$12", "/tmp/a/b", "/tmp/a", "a/b",
	"2026-11-27", "+49 30 1234567", "DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "TKT-123", "tkt", "123", "owner/name", "x", "yes", "«pay»", "–", "...", "{\"bob\":", "\"ann lee\"", "ann lee",
	"\n", "rn", "paypa1", "paypal", "sk_live_9aB3xY7qLm2Zt5Wv8Kp1", "9aB3xY7qLm2Zt5Wv8Kp1", "c2tfbGl2ZV85YUIzeFk3cUxtMlp0NVd2OEtwMQ==",
}

var sourceSets = [][]flow.Source{
	{flow.User}, {flow.System}, {flow.Tool}, {flow.Tool, "contacts"}, {flow.Tool, "web"}, {flow.Tool, flow.Hidden}, {flow.User, flow.Hidden}, {"contacts", "web", flow.Tool},
}

func phrase(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(rapid.SampledFrom(parts), 1, most).Draw(t, "words")
		return strings.Join(words, rapid.SampledFrom([]string{" ", " ", " ", ", ", ""}).Draw(t, "between"))
	})
}

func drawBatch(t *rapid.T, i int) *index.Batch {
	b := &index.Batch{Key: []byte(fmt.Sprint(i))}
	if rapid.IntRange(0, 9).Draw(t, "person") == 0 {
		b.Person = true
	}
	if rapid.IntRange(0, 3).Draw(t, "knows") == 0 {
		b.Know = flow.Knowledge(rapid.IntRange(0, 7).Draw(t, "knowledge"))
	}
	if rapid.Bool().Draw(t, "result") {
		b.Result, b.Tool = true, "fetch"
		for range rapid.IntRange(0, 2).Draw(t, "arguments") {
			b.Echo = append(b.Echo, []byte(phrase(3).Draw(t, "argument")))
		}
	}
	for range rapid.IntRange(0, 1).Draw(t, "written") {
		b.Written = append(b.Written, []byte(phrase(3).Draw(t, "what was written")))
	}
	for k := range rapid.IntRange(0, 4).Draw(t, "texts") {
		x := index.Text{Text: []byte(phrase(8).Draw(t, "text")), Sources: rapid.SampledFrom(sourceSets).Draw(t, "sources")}
		x.Ref = flow.Ref{Tool: b.Tool, Call: "call", Pointer: fmt.Sprintf("/%d/#/a%d", k, i)}
		x.Trusted = rapid.Bool().Draw(t, "trusted")
		x.Opaque = rapid.IntRange(0, 19).Draw(t, "opaque") == 0
		if rapid.IntRange(0, 4).Draw(t, "suspected") == 0 {
			x.Suspected = []flow.Source{"web"}
		}
		b.Texts = append(b.Texts, x)
	}
	return b
}

func drawQuery(t *rapid.T) *flow.Query {
	q := &flow.Query{
		Kind:     flow.Kind(rapid.IntRange(0, int(flow.IBAN)).Draw(t, "kind")),
		Relation: flow.Relation(rapid.IntRange(0, 2).Draw(t, "relation")),
		Weak:     rapid.Bool().Draw(t, "weak"),
		Tokens:   rapid.IntRange(1, 4).Draw(t, "tokens"),
	}
	q.Sources = rapid.SliceOfN(rapid.SampledFrom([]flow.Source{flow.User, flow.System, flow.Tool, flow.Hidden, flow.Untrusted, "contacts", "web"}), 1, 3).Draw(t, "sources")
	q.Trusted = rapid.SliceOfN(rapid.SampledFrom([]flow.Source{flow.User, flow.System, "contacts"}), 0, 3).Draw(t, "trusted")
	return q
}

// An index and one that was restored from its segments answer as one that keeps the texts; a view
// does not change when texts are added.
func TestIndexAgreesWithTexts(t *testing.T) {
	property.Many(t, property.Cases(1, 5, 100), func(t *rapid.T) {
		ix, restored, twin := index.New(key, index.Options{}), index.New(key, index.Options{}), &naive{}
		type moment struct {
			view  flow.View
			value []byte
			query *flow.Query
			found flow.Finding
		}
		var moments []moment
		for i := range rapid.IntRange(1, 12).Draw(t, "batches") {
			b := drawBatch(t, i)
			twin.add(b)
			if err := restored.Restore(ix.Add(b)); err != nil {
				t.Fatal(err)
			}
			value, q := []byte(phrase(3).Draw(t, "value")), drawQuery(t)
			views := []flow.View{ix.View(), restored.View()}
			want := twin.find(value, q)
			for k, v := range views {
				got := v.Find(value, q)
				moments = append(moments, moment{v, value, q, got})
				if k == 1 && !reflect.DeepEqual(got, moments[len(moments)-2].found) {
					t.Fatalf("restored: Find(%q, %+v) = %+v, not %+v", value, q, got, moments[len(moments)-2].found)
				}
				checkRef(t, twin, got.First)
				got.First = flow.Ref{Number: got.First.Number}
				if len(got.Texts) == 0 {
					got.Texts = nil
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("Find(%q, %+v) = %+v, naively %+v", value, q, got, want)
				}
				carried := []byte(phrase(6).Draw(t, "carried"))
				if got, want := v.Carries(carried, q), twin.carries(carried, q); got.Possible != want {
					t.Fatalf("Carries(%q, %+v) = %+v, naively %t", carried, q, got, want)
				}
			}
		}
		for _, m := range moments {
			if again := m.view.Find(m.value, m.query); !reflect.DeepEqual(again, m.found) {
				t.Fatalf("Find(%q, %+v) = %+v, and after other texts %+v", m.value, m.query, m.found, again)
			}
		}
	})
}

// checkRef compares the name of a text with the text.
func checkRef(t *rapid.T, twin *naive, r flow.Ref) {
	if r.Number == 0 {
		return
	}
	want := twin.texts[r.Number-1].Ref
	want.Number, want.Source = r.Number, r.Source
	if r != want {
		t.Fatalf("text %d is %+v, not %+v", r.Number, want, r)
	}
}
