package index_test

import (
	"bytes"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

func sampleSegment() []byte {
	b := &index.Batch{Key: []byte("1"), Know: everything, Person: true, Said: []string{"k"}, SaidAnywhere: []string{"l"}, Result: true, Tool: "fetch", Marks: [][]byte{[]byte("m")},
		Echo: [][]byte{[]byte("bob «x» e.v.i.l")}, Written: [][]byte{[]byte("/tmp/x")},
		Texts: []index.Text{text("bob@example.com paid «1,200.50» to e.v.i.l", flow.Tool, "web"), {Ref: flow.Ref{Pointer: "/0/a", Call: "c"}, Sources: []flow.Source{flow.Tool}, Text: []byte("two"), Opaque: true}}}
	return index.New(key, index.Options{}).Add(b)
}

// A segment that is damaged, cut, longer, of another version or of another session is an error, and
// everything is in doubt from then on, also for what was known.
func TestDamagedSegments(t *testing.T) {
	segment := sampleSegment()
	cases := map[string][]byte{"empty": nil, "cut": segment[:len(segment)-1], "longer": append(bytes.Clone(segment), 0), "version": append([]byte{99}, segment[1:]...)}
	for i := range segment {
		damaged := bytes.Clone(segment)
		damaged[i] ^= 1
		cases["byte "+string(rune('0'+i%10))+"/"+string(rune(i))] = damaged
	}
	for name, damaged := range cases {
		checkDoubt(t, name, key, damaged)
	}
	checkDoubt(t, "another session", []byte("another key"), segment)
}

func checkDoubt(t *testing.T, name string, key, segment []byte) {
	t.Helper()
	ix := index.New(key, index.Options{})
	ix.Add(&index.Batch{Know: everything, Texts: []index.Text{text("ann@example.com", flow.User)}})
	before := ix.View()
	if err := ix.Restore(segment); err == nil {
		t.Errorf("%s: restored", name)
		return
	}
	for _, value := range []string{"ann@example.com", "x@example.com"} {
		f := ix.View().Find([]byte(value), query(flow.Email, flow.User))
		if f.Certain || !f.Possible || f.Doubt != flow.Unreported {
			t.Errorf("%s: Find(%q) = %+v", name, value, f)
		}
	}
	if !ix.Written([]byte("/tmp/y"), flow.Path) || !ix.View().Read(query(flow.Text, flow.Tool), nil, false) {
		t.Errorf("%s: something is known not to be written or read", name)
	}
	if f := before.Find([]byte("x@example.com"), query(flow.Email, flow.User)); f.Doubt != 0 {
		t.Errorf("%s: an earlier view changed: %+v", name, f)
	}
}

// Segments have no text.
func TestSegmentsHaveNoText(t *testing.T) {
	segment := sampleSegment()
	for _, word := range []string{"bob", "example", "paid", "1200", "tmp", "two", "evil"} {
		if bytes.Contains(segment, []byte(word)) {
			t.Errorf("a segment has %q", word)
		}
	}
	other := index.New([]byte("another key"), index.Options{}).Add(&index.Batch{Texts: []index.Text{text("ann@example.com", flow.User)}})
	if same := index.New(key, index.Options{}).Add(&index.Batch{Texts: []index.Text{text("ann@example.com", flow.User)}}); bytes.Equal(same, other) {
		t.Error("the hashes of two sessions are equal")
	}
}

// FuzzRestore restores records with any content: they have a valid hash, as those of someone who can
// write the store and knows the key.
func FuzzRestore(f *testing.F) {
	f.Add(index.Body(sampleSegment()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		ix := index.New(key, index.Options{Budget: 1 << 16})
		err := ix.RestoreBody(body)
		v := ix.View()
		for _, k := range []flow.Kind{flow.Text, flow.ID, flow.Email} {
			got := v.Find([]byte("bob@example.com paid"), query(k, flow.Tool, flow.User))
			if err != nil && !got.Possible {
				t.Fatalf("after %v: %+v", err, got)
			}
		}
		v.Carries([]byte("bob@example.com paid 1,200.50 to e.v.i.l and so on"), query(flow.Text, flow.Tool))
		v.Origin([]byte("bob"), flow.Text)
		ix.Written([]byte("/tmp/x"), flow.Path)
		ix.Add(&index.Batch{Texts: []index.Text{text("bob", flow.User)}})
	})
}
