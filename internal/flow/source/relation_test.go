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
