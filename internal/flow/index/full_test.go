package index_test

import (
	"encoding/binary"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// An index without room for another mark does not know any longer who wrote a text, so that nothing
// is certain: results with a million lines are no way to lose the memory of what the agent wrote.
func TestFullOfMarks(t *testing.T) {
	ix := index.New(key, index.Options{})
	ix.Add(&index.Batch{Know: everything, Person: true, SaidAnywhere: []string{"delete"}, Texts: []index.Text{text("ann@example.com", flow.User)}})
	before := ix.View()
	marks := make([][]byte, index.MaxBatches+1)
	for i := range marks {
		marks[i] = binary.BigEndian.AppendUint64(nil, uint64(i))
	}
	ix.Add(&index.Batch{Marks: marks[:index.MaxBatches]})
	if f := ix.View().Find([]byte("ann@example.com"), query(flow.Email, flow.User)); !f.Certain || f.Doubt != 0 {
		t.Errorf("before it is full: %+v", f)
	}
	ix.Add(&index.Batch{Key: marks[0]})
	ix.Add(&index.Batch{Marks: marks[:2]}) // it has them
	if f := ix.View().Find([]byte("ann@example.com"), query(flow.Email, flow.User)); !f.Certain || f.Doubt != 0 {
		t.Errorf("with marks that it has: %+v", f)
	}
	for name, b := range map[string]*index.Batch{"a mark": {Marks: marks[index.MaxBatches:]}, "the key of a batch": {Key: []byte("new")}} {
		ix.Add(b)
		if f := ix.View().Find([]byte("ann@example.com"), query(flow.Email, flow.User)); f.Certain || !f.Possible || f.Doubt != flow.Unreported {
			t.Errorf("after %s: %+v", name, f)
		}
		if v := ix.View(); v.Said("delete") || !v.Read(query(flow.Text, flow.Tool), nil, false) {
			t.Errorf("after %s: the words of the person are known", name)
		}
	}
	if !before.Said("delete") {
		t.Error("an earlier view changed")
	}
}
