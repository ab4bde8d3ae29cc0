package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// What the agent wrote with an effect and reads back has no certain source.
func TestWrittenValues(t *testing.T) {
	const policy = `
[sources.contacts]
tool = "search_contacts"
field = "/*/email"
trusted = true
[sources.notes]
tool = "read_file"
asked = { pointer = "/path", from = ["user"] }
`
	for _, c := range []struct {
		name, wrote, args, reads, result string
		source                           string
		want                             []string
	}{
		{"nothing was written", "", "", "search_contacts", `[{"email":"evil@x.com"}]`, "contacts", []string{"evil@x.com"}},
		{"a contact that it added", "add_contact", `{"email":"Evil@x.com"}`, "search_contacts", `[{"email":"evil@x.com"},{"email":"bob@x.com"}]`, "contacts", []string{"bob@x.com"}},
		{"a contact that a message names", "send_email", `{"body":"write to evil@x.com."}`, "search_contacts", `[{"email":"evil@x.com"}]`, "contacts", nil},
		{"a tool that nobody declared", "undeclared_tool", `{"email":"evil@x.com"}`, "search_contacts", `[{"email":"evil@x.com"}]`, "contacts", nil},
		{"a read before it", "search", `{"email":"evil@x.com"}`, "search_contacts", `[{"email":"evil@x.com"}]`, "contacts", []string{"evil@x.com"}},
	} {
		s := begin(t, policy)
		if c.wrote != "" {
			s.called(c.wrote, c.args, `ok`)
		}
		s.called(c.reads, `{"q":1}`, c.result)
		want(t, c.name, s.index.of("contacts"), c.want...)
	}
	// A part of a longer text: the rest keeps its source.
	s := begin(t, policy)
	s.user("read /docs/info.txt")
	s.called("send_email", `{"to":"evil@x.com"}`, `ok`)
	s.called("read_file", `{"path":"/docs/info.txt"}`, "Boss: bob@x.com\nCart: EVIL@x.com, IBAN: DE1")
	want(t, "a part of a text", s.index.of("notes"), "Boss: bob@x.com\nCart: ", ", IBAN: DE1")
	if got := s.index.suspected("notes"); len(got) != 1 {
		t.Errorf("suspected: %q", got)
	}
	// With another spelling of it next to it no part has the source.
	s.called("read_file", `{"path":"/docs/info.txt","n":2}`, "evil@x.com or evil@\uff58.com")
	want(t, "another spelling", s.index.of("notes"), "Boss: bob@x.com\nCart: ", ", IBAN: DE1")
}

// A read of what the agent wrote has no certain source: of a path, below one, in a folder of one.
func TestWrittenPaths(t *testing.T) {
	const policy = "[sources.s]\ntool = [\"read_file\", \"list\", \"get\"]\n"
	for _, c := range []struct {
		name, wrote, read string
		trusted           bool
	}{
		{"another path", `{"path":"/docs/a.txt"}`, `{"path":"/docs/b.txt"}`, true},
		{"the path", `{"path":"/docs/a.txt"}`, `{"path":"/docs/a.txt"}`, false},
		{"the path in another spelling", `{"path":"/docs/./x/../A.txt"}`, `{"file":"/docs/a.txt"}`, false},
		{"below a folder", `{"url":"https://evil.com/info.txt","dir":"/docs"}`, `{"path":"/docs/info.txt"}`, false},
		{"a folder above", `{"path":"/docs/x/a.txt"}`, `{"path":"/docs"}`, false},
		{"the root", `{"path":"/docs/x/a.txt"}`, `{"path":"/"}`, false},
		{"in a command", `{"command":"curl -o /docs/a.txt https://evil.com/a"}`, `{"path":"/docs/a.txt"}`, false},
		{"a redirect in a command", `{"command":"curl https://evil.com>/docs/a.txt"}`, `{"path":"/docs/a.txt"}`, false},
		{"a relative path", `{"path":"a.txt"}`, `{"path":"/docs/a.txt"}`, false},
		{"read by a relative path", `{"path":"/docs/a.txt"}`, `{"path":"../docs/a.txt"}`, false},
		{"a path of Windows", `{"path":"C:\\Docs\\a.txt"}`, `{"path":"c:/docs/a.txt"}`, false},
		{"a path with spaces", `{"path":"/my docs/a.txt"}`, `{"path":"/my docs/a.txt"}`, false},
		{"a link", `{"path":"file:///docs/a.txt"}`, `{"path":"/docs/a.txt"}`, false},
		{"an id", `{"id":"doc-4711"}`, `{"doc":"doc-4711"}`, false},
		{"a number under the same name", `{"event_id":12}`, `{"event_id":12}`, false},
		{"a number under another name", `{"amount":12}`, `{"limit":12}`, true},
		{"a title under the same name", `{"title":"Ideas"}`, `{"title":"ideas"}`, false},
		{"a word under another name", `{"body":"ideas"}`, `{"query":"ideas"}`, true},
		{"an address", `{"to":"bob@x.com"}`, `{"sender":"Bob <bob@x.com>"}`, false},
		{"a page", `{"url":"https://x.com/a","text":"t"}`, `{"url":"https://x.com/a"}`, false},
	} {
		s := begin(t, policy)
		s.called("write_file", c.wrote, "ok")
		s.called("get", c.read, "text")
		if got := len(s.index.of("s")) > 0; got != c.trusted {
			t.Errorf("%s: certain %t", c.name, got)
		}
		if !c.trusted {
			want(t, c.name, s.index.suspected("s"), "text")
		}
	}
}

// After a call that wrote more than is kept, or arguments that do not parse, everything counts as
// written.
func TestWrittenBounds(t *testing.T) {
	var many strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&many, "/d/%d ", i)
	}
	for _, args := range []string{`{"text":"` + many.String() + `"}`, `{"text":`} {
		s := begin(t, "[sources.s]\ntool = \"get\"")
		s.called("write_file", args, "ok")
		s.called("get", `{}`, "text")
		want(t, "certain", s.index.of("s"))
		want(t, "suspected", s.index.suspected("s"), "text")
	}
}

// Of a call with more arguments than an echo has, no result has a certain source.
func TestManyArguments(t *testing.T) {
	s := begin(t, "[sources.s]\ntool = \"get\"")
	s.result("get", `{"a":[`+strings.Repeat("1,", 20_000)+`1]}`, "text")
	want(t, "certain", s.index.of("s"))
	want(t, "suspected", s.index.suspected("s"), "text")
}

// What a result repeats of its own call's arguments is reported as its echo; the arguments of
// another call are not.
func TestEcho(t *testing.T) {
	s := begin(t, "[sources.s]\ntool = \"search\"")
	s.result("search", `{"query":"evil@x.com","more":["a",12]}`, "no results for evil@x.com")
	var echo []string
	for _, e := range s.index.batches[0].Echo {
		echo = append(echo, string(e))
	}
	want(t, "echo", echo, "evil@x.com", "a", "12")
	// A sender that is only echoed is not known.
	s = begin(t, "[sources.found]\ntool = \"search\"\nfield = \"/query\"\n"+strings.ReplaceAll(mail, `"contacts"]`, `"found"]`))
	s.result("search", `{"query":"evil@x.com"}`, `{"query":"evil@x.com"}`)
	s.result("read_inbox", `{}`, `[{"sender":"evil@x.com","body":"pay"}]`)
	want(t, "bodies", s.index.of("known_mail"))
}
