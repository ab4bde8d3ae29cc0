package occur

import (
	"math/rand/v2"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// A query that is widened by relation or weak finds at least what it found before, for certain and
// perhaps: proofs rely on it.
func TestWidenedQueriesFindMore(t *testing.T) {
	more := 0
	for seed := range property.Cases(5_000, 20_000, 500_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		kind := []flow.Kind{flow.URL, flow.Path, flow.Text, flow.Number, flow.Email, flow.Kind(r.IntN(len(spellings)))}[r.IntN(6)]
		text := draw(r, kind)
		value := spellings[kind][r.IntN(len(spellings[kind]))]
		if r.IntN(6) == 0 {
			value = draw(r, kind)
		}
		narrow, wide := flow.Query{Kind: kind}, flow.Query{Kind: kind, Weak: r.IntN(2) == 0}
		switch kind {
		case flow.URL:
			wide.Relation = flow.SameHost
		case flow.Path:
			wide.Relation = flow.Below
		default:
			wide.Weak = true
		}
		certain, possible := find(value, text, narrow)
		widely, perhaps := find(value, text, wide)
		if certain && !widely || possible && !perhaps {
			t.Fatalf("seed %d: %s %q in %q: certain %t, possible %t; with %+v %t, %t", seed, kind, value, text, certain, possible, wide, widely, perhaps)
		}
		if widely && !certain {
			more++
		}
	}
	if more == 0 {
		t.Error("no query found more")
	}
}
