package index_test

import (
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// copies returns an index and one that was restored from its segments.
func copies(t *testing.T, o index.Options, batches ...*index.Batch) []*index.Index {
	t.Helper()
	made, restored := index.New(key, o), index.New(key, o)
	for _, b := range batches {
		if err := restored.Restore(made.Add(b)); err != nil {
			t.Fatal(err)
		}
	}
	return []*index.Index{made, restored}
}

// A suspected source counts where doubt counts, never for certain, and never as a trusted one.
func TestSuspectedSources(t *testing.T) {
	s := text("mallory@evil.example", flow.Tool)
	s.Suspected = []flow.Source{"web"}
	for _, ix := range copies(t, index.Options{}, &index.Batch{Know: everything, Result: true, Tool: "fetch", Texts: []index.Text{s}}) {
		v := ix.View()
		if f := v.Find([]byte("mallory@evil.example"), query(flow.Email, "web")); f.Certain || !f.Possible {
			t.Errorf("web: %+v", f)
		}
		if f := v.Find([]byte("mallory@evil.example"), query(flow.Email, flow.Tool)); !f.Certain {
			t.Errorf("tool: %+v", f)
		}
		q := query(flow.Email, flow.Untrusted)
		q.Trusted = []flow.Source{"web"}
		if f := v.Find([]byte("mallory@evil.example"), q); !f.Certain {
			t.Errorf("untrusted: %+v", f)
		}
		if !v.Read(query(flow.Text, "web"), nil, false) {
			t.Error("web was not read")
		}
	}
}

// Marks are keys that Has finds, and that a segment keeps.
func TestMarks(t *testing.T) {
	for _, ix := range copies(t, index.Options{}, &index.Batch{Marks: [][]byte{[]byte("a"), []byte("b")}}) {
		if !ix.Has([]byte("a")) || !ix.Has([]byte("b")) || ix.Has([]byte("c")) || ix.Has(nil) {
			t.Error("marks are not found")
		}
	}
}

// With LastUser only the latest message of the person is certainly the user's.
func TestLastUser(t *testing.T) {
	batches := []*index.Batch{
		{Know: everything, Person: true, Texts: []index.Text{text("bob@example.com", flow.User)}},
		{Person: true, Texts: []index.Text{text("carol@example.com", flow.User)}},
	}
	for last, want := range map[bool]bool{false: true, true: false} {
		for _, ix := range copies(t, index.Options{LastUser: last}, batches...) {
			v := ix.View()
			if f := v.Find([]byte("bob@example.com"), query(flow.Email, flow.User)); f.Certain != want || !f.Possible {
				t.Errorf("earlier message, last = %t: %+v", last, f)
			}
			if f := v.Find([]byte("carol@example.com"), query(flow.Email, flow.User)); !f.Certain {
				t.Errorf("last message, last = %t: %+v", last, f)
			}
		}
	}
}

// What calls wrote is no text: no query finds it.
func TestWrittenIsNoText(t *testing.T) {
	for _, ix := range copies(t, index.Options{},
		&index.Batch{Know: everything, Person: true, Texts: []index.Text{text("alice@example.com", flow.User)}},
		&index.Batch{Written: [][]byte{[]byte("bob@other.test")}}) {
		if f := ix.View().Find([]byte("bob@other.test"), query(flow.Email, flow.User, flow.Tool)); f.Possible || f.First.Number != 0 {
			t.Errorf("%+v", f)
		}
		if r := ix.View().Origin([]byte("bob@other.test"), flow.Email); r.Number != 0 {
			t.Errorf("origin %+v", r)
		}
		if !ix.Written([]byte("bob@other.test"), flow.Email) {
			t.Error("it was not written")
		}
	}
}

// Every word of what a call wrote is found, in every reading, and no other.
func TestWroteWord(t *testing.T) {
	for _, ix := range copies(t, index.Options{}, &index.Batch{Written: [][]byte{[]byte("Pay Mallory, cm9zZWJ1ZA== mallory@other.test")}}) {
		for word, want := range map[string]bool{"pay": true, "mallory": true, "other": true, "alice": false} {
			if ix.WroteWord([]byte(word)) != want {
				t.Errorf("%q: %t", word, !want)
			}
		}
	}
}
