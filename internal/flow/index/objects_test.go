package index_test

import (
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// Leaves of one object of a result are one text for same_text; those of two objects, of two results
// and of none are not.
func TestLeavesOfOneObject(t *testing.T) {
	leaf := func(object uint32, value string) index.Text {
		one := text(value, flow.Tool)
		one.Object = object
		return one
	}
	ix := index.New(key, index.Options{})
	add := func(texts ...index.Text) []byte {
		return ix.Add(&index.Batch{Know: everything, Result: true, Tool: "bills", Texts: texts})
	}
	add(leaf(1, "alphaworks"), leaf(1, "1111.50"), leaf(2, "betaworks"), leaf(2, "2222.50"), leaf(3, "3333.50"), leaf(0, "deltaworks"), leaf(0, "4444.50"), leaf(3, "gammaworks"))
	add(leaf(1, "thetaworks"), leaf(3, "5555.50"))
	segment := add(leaf(7, "iotaworks"), leaf(7, "7777.50"))
	restored := index.New(key, index.Options{})
	if err := restored.Restore(segment); err != nil {
		t.Fatal(err)
	}
	same := func(v flow.View, a, b string) bool {
		one, two := v.Find([]byte(a), query(flow.Text, flow.Tool)), v.Find([]byte(b), query(flow.Money, flow.Tool))
		if len(one.Texts) != 1 || len(two.Texts) != 1 {
			t.Fatalf("%s: %+v, %s: %+v", a, one, b, two)
		}
		return one.Texts[0] == two.Texts[0]
	}
	v := ix.View()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"alphaworks", "1111.50", true}, {"betaworks", "2222.50", true}, {"gammaworks", "3333.50", true}, {"iotaworks", "7777.50", true},
		{"alphaworks", "2222.50", false}, {"betaworks", "1111.50", false}, {"alphaworks", "3333.50", false}, {"deltaworks", "4444.50", false},
		{"gammaworks", "5555.50", false}, {"thetaworks", "1111.50", false}, {"thetaworks", "5555.50", false},
	} {
		if got := same(v, c.a, c.b); got != c.want {
			t.Errorf("%s and %s in one text: %v", c.a, c.b, got)
		}
	}
	if !same(restored.View(), "iotaworks", "7777.50") {
		t.Error("restored from a segment, leaves of an object are apart")
	}
}
