package index

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// Long arguments of a call cost the budget only what its result repeats of them.
func TestEchoCostsWhatIsRepeated(t *testing.T) {
	ix := New([]byte("key"), Options{})
	body := []byte(strings.Repeat("many, many different words; ", 10_000))
	ix.Add(&Batch{Texts: []Text{{Text: body[:1000], Sources: []flow.Source{flow.Tool}}}})
	for range 100 {
		ix.Add(&Batch{Result: true, Tool: "write", Echo: [][]byte{body, []byte("notes.txt")}, Texts: []Text{{Text: []byte("wrote notes.txt"), Sources: []flow.Source{flow.Tool}}}})
	}
	if cost := ix.cost(untrustedChain); cost > 20_000 {
		t.Errorf("the texts cost %d", cost)
	}
	f := ix.View().Find([]byte("notes.txt"), &flow.Query{Kind: flow.Text, Sources: []flow.Source{flow.Tool}})
	if f.Certain {
		t.Errorf("the name of the file is no echo: %+v", f)
	}
}

// Texts with more sets of sources than an index keeps have nothing for certain.
func TestTooManySets(t *testing.T) {
	ix := New([]byte("key"), Options{})
	for i := range maxSets + 2 {
		source := flow.Source("s" + string(rune(0x4E00+i)))
		ix.Add(&Batch{Know: 7, Texts: []Text{{Text: []byte(source + " x@example.com"), Sources: []flow.Source{source}}}})
		if i == 0 {
			ix.Add(&Batch{Texts: []Text{{Text: []byte("bob@example.com"), Sources: []flow.Source{flow.User}}}})
		}
	}
	v := ix.View()
	for source, value := range map[flow.Source]string{flow.User: "x@example.com", "s一": "y@example.com"} {
		f := v.Find([]byte(value), &flow.Query{Kind: flow.Email, Sources: []flow.Source{source}})
		if f.Certain || !f.Possible || f.Doubt == 0 {
			t.Errorf("%s in %s: %+v", value, source, f)
		}
	}
	if len(ix.state.sets) > maxSets+1 {
		t.Errorf("%d sets", len(ix.state.sets))
	}
}
