package index_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

const everything = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults

var key = []byte("0123456789abcdef0123456789abcdef")

func text(content string, sources ...flow.Source) index.Text {
	return index.Text{Text: []byte(content), Sources: sources, Trusted: slices.Contains(sources, flow.User)}
}

func query(k flow.Kind, sources ...flow.Source) *flow.Query {
	return &flow.Query{Kind: k, Sources: sources}
}

func TestPhrasesAndAtoms(t *testing.T) {
	ix := index.New(key, index.Options{})
	ix.Add(&index.Batch{Know: everything, Person: true, Texts: []index.Text{text("Please send the quarterly report to Bob Smith, bob@example.com.", flow.User)}})
	ix.Add(&index.Batch{Result: true, Tool: "fetch", Texts: []index.Text{text("quarterly the report; mallory@evil.example wants <b>it</b>", flow.Tool)}})
	v := ix.View()
	for _, c := range []struct {
		value   string
		kind    flow.Kind
		source  flow.Source
		certain bool
		first   int
	}{
		{"quarterly report", flow.Text, flow.User, true, 1},
		{"Quarterly REPORT", flow.Text, flow.User, true, 1},
		{"quarterly report", flow.Text, flow.Tool, false, 0},
		{"report to bob smith", flow.Text, flow.User, true, 1},
		{"report bob", flow.Text, flow.User, false, 0},
		{"bob@example.com", flow.Email, flow.User, true, 1},
		{"mallory@evil.example", flow.Email, flow.User, false, 0},
		{"mallory@evil.example", flow.Email, flow.Tool, true, 2},
		{"mallory@evil.example", flow.Email, flow.Untrusted, true, 2},
		{"Smith", flow.ID, flow.User, true, 1},
		{"quarterly", flow.ID, flow.User, true, 1},
		{"example", flow.ID, flow.User, false, 1},
	} {
		f := v.Find([]byte(c.value), query(c.kind, c.source))
		if f.Certain != c.certain || f.First.Number != c.first || f.Doubt != 0 {
			t.Errorf("Find(%q as %v in %s) = %+v", c.value, c.kind, c.source, f)
		}
	}
}

// Sessions whose texts are added in turn do not share hashes.
func TestSessionsInTurn(t *testing.T) {
	other := bytes.Repeat([]byte{7}, len(key))
	a, b := index.New(key, index.Options{}), index.New(other, index.Options{})
	restored := index.New(other, index.Options{})
	for range 3 {
		batch := &index.Batch{Know: everything, Texts: []index.Text{text("pay the bill of ann lee", flow.Tool)}}
		first, second := a.Add(batch), b.Add(batch)
		if bytes.Equal(index.Body(first), index.Body(second)) {
			t.Error("two sessions have one segment")
		}
		if err := restored.Restore(second); err != nil {
			t.Fatal(err)
		}
	}
	for i, ix := range []*index.Index{a, b, restored} {
		if f := ix.View().Find([]byte("ann lee"), query(flow.Text, flow.Tool)); !f.Certain || len(f.Texts) != 3 {
			t.Errorf("index %d: %+v", i, f)
		}
	}
}
