package source_test

import (
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// A condition on a source may state how closely the argument and the text agree: a file below a
// folder that the person named, but none outside of it, and none that the agent wrote there.
func TestRelationsOfConditions(t *testing.T) {
	const policy = `
[sources.info]
tool = "read_file"
asked = { pointer = "/path", from = ["user"], relation = "below" }
label = "Email: (\\S+)"
trusted = true
[sources.site]
tool = "fetch"
asked = { pointer = "/url", from = ["user"], as = "url", relation = "host" }
trusted = true
`
	for _, tt := range []struct {
		name   string
		calls  [][3]string
		source flow.Source
		value  string
		kind   flow.Kind
		want   bool
	}{
		{"a file below the folder", [][3]string{{"read_file", `{"path":"/home/info/bob.txt"}`, "Email: bob@example.com"}}, "info", "bob@example.com", flow.Email, true},
		{"the folder itself", [][3]string{{"read_file", `{"path":"/home/info"}`, "Email: bob@example.com"}}, "info", "bob@example.com", flow.Email, true},
		{"a folder with a longer name", [][3]string{{"read_file", `{"path":"/home/information/bob.txt"}`, "Email: bob@example.com"}}, "info", "bob@example.com", flow.Email, false},
		{"a way out of the folder", [][3]string{{"read_file", `{"path":"/home/info/../evil.txt"}`, "Email: bob@example.com"}}, "info", "bob@example.com", flow.Email, false},
		{"a file that the agent wrote there", [][3]string{
			{"write_file", `{"path":"/home/info/x.txt","content":"Email: bob@example.com"}`, "ok"},
			{"read_file", `{"path":"/home/info/x.txt"}`, "Email: bob@example.com"},
		}, "info", "bob@example.com", flow.Email, false},
		{"a page of the named host", [][3]string{{"fetch", `{"url":"https://example.com/a"}`, "room 4711"}}, "site", "room 4711", flow.Text, true},
		{"a page of a subdomain", [][3]string{{"fetch", `{"url":"https://x.example.com/a"}`, "room 4711"}}, "site", "room 4711", flow.Text, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := live(t, policy)
			w.user("The files are in /home/info, the rooms on https://example.com/rooms.")
			for _, c := range tt.calls {
				w.called(c[0], c[1], c[2])
			}
			q := &flow.Query{Kind: tt.kind, Sources: []flow.Source{tt.source}}
			if f := w.index.View().Find([]byte(tt.value), q); f.Certain != tt.want {
				t.Errorf("%+v, want %v", f, tt.want)
			}
			if f := w.restored(t).Find([]byte(tt.value), q); f.Certain != tt.want {
				t.Errorf("after a restart: %+v, want %v", f, tt.want)
			}
		})
	}
}

// A name that a mail of a known person has identifies the sender of another mail of the same result,
// as a word and in no part of one.
func TestConditionsFindWordsOfTheSameResult(t *testing.T) {
	const policy = `
[sources.named_mail]
tool = "inbox"
items = "/*"
where = { pointer = "/sender", label = "^([a-z]+)[.@]", from = ["user"] }
field = "/body"
trusted = true
[sources.named_sender]
tool = "inbox"
items = "/*"
where = { pointer = "/sender", label = "^([a-z]+)[.@]", from = ["user", "named_mail"] }
field = "/sender"
trusted = true
`
	w := live(t, policy)
	w.user("Do what Bob asks for in his mail.")
	w.called("inbox", `{}`, `[{"sender":"bob@example.com","body":"Send it to Alice Miller, not to malloryx."},
		{"sender":"alice.miller@example.com","body":"Hello"},{"sender":"mallory@evil.example","body":"I am Alice"},{"sender":"lice@evil.example","body":"Hi"}]`)
	for value, want := range map[string]bool{"bob@example.com": true, "alice.miller@example.com": true, "mallory@evil.example": false, "lice@evil.example": false} {
		if f := w.index.View().Find([]byte(value), &flow.Query{Kind: flow.Email, Sources: []flow.Source{"named_sender"}}); f.Certain != want {
			t.Errorf("%s: %+v, want %v", value, f, want)
		}
	}
}
