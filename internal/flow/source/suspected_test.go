package source_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// A part of a message that looks like a client's is suspected of its author: a rule that keeps the
// words of a person, or the instructions of an operator, from leaving finds them there.
func TestBlocksMayBeTheAuthors(t *testing.T) {
	const secret = "zq81-kk20-ww77-pp03"
	for name, m := range map[string]flow.Message{
		"a block":             {Source: flow.User, Text: []byte("use <api-key>" + secret + "</api-key>")},
		"a block of context":  {Source: flow.System, Text: []byte("<git_status>" + secret + "</git_status>")},
		"a hidden part":       {Source: flow.System, Text: []byte("be nice <!-- " + secret + " -->")},
		"a generated message": {Source: flow.User, Text: []byte("The following is a summary of the conversation: " + secret)},
	} {
		w := live(t, mail)
		w.keep(w.Message(w.index, &m))
		for _, v := range []flow.View{w.index.View(), w.restored(t)} {
			q := &flow.Query{Sources: []flow.Source{m.Source}, Tokens: 8}
			if f := v.Carries([]byte("key="+secret), q); !f.Possible || f.Certain {
				t.Errorf("%s: carries: %+v", name, f)
			}
			if f := v.Find([]byte(secret), q); !f.Possible || f.Certain {
				t.Errorf("%s: from: %+v", name, f)
			}
			if f := v.Find([]byte(secret), &flow.Query{Sources: []flow.Source{flow.Untrusted}}); !f.Possible {
				t.Errorf("%s: it is trusted: %+v", name, f)
			}
		}
	}
}

// A result of an unknown tool may be of any tool, and have a text of any declared source.
func TestResultsOfUnknownTools(t *testing.T) {
	const policy = mail + `
[sources.web]
tool = "fetch"
[sources.profile]
tool = "read_file"
asked = { pointer = "/path", const = "/user/info.txt" }
label = "(?m)^IBAN: (\\S+)$"
`
	for name, r := range map[string]flow.Result{
		"a text":          {Data: []byte("IBAN: GB29NWBK60161331926819")},
		"content unseen":  {Data: []byte("response resp_1"), Opaque: true},
		"other arguments": {Args: []byte(`{"path":"/x"}`), Data: []byte("IBAN: GB29NWBK60161331926819")},
	} {
		w := live(t, policy)
		w.keep(w.Result(w.index, &r))
		for _, s := range []flow.Source{"web", "profile"} {
			q := &flow.Query{Kind: flow.IBAN, Sources: []flow.Source{s}}
			if f := w.index.View().Find([]byte("GB29NWBK60161331926819"), q); !f.Possible || f.Certain {
				t.Errorf("%s: from %s: %+v", name, s, f)
			}
			if !w.index.View().Read(q, nil, false) {
				t.Errorf("%s: no text of %s was read", name, s)
			}
		}
		known := r
		known.Tool = stopgate.ToolName("other")
		w = live(t, policy)
		w.keep(w.Result(w.index, &known))
		if w.index.View().Read(&flow.Query{Sources: []flow.Source{"web"}}, nil, false) {
			t.Errorf("%s: a result of another tool is of web", name)
		}
	}
}

// A text of a result without arguments, as content next to the structured content of an MCP server,
// may be the one that was asked for.
func TestResultsWithoutArguments(t *testing.T) {
	w := live(t, mail+"[sources.secrets]\ntool = \"read_file\"\nasked = { pointer = \"/path\", const = \"/secret\" }\n")
	w.keep(w.Result(w.index, &flow.Result{Tool: "read_file", Data: []byte("the key is zq81-kk20-ww77-pp03")}))
	f := w.index.View().Carries([]byte("zq81-kk20-ww77-pp03"), &flow.Query{Sources: []flow.Source{"secrets"}, Tokens: 8})
	if !f.Possible || f.Certain {
		t.Errorf("%+v", f)
	}
}

// A result that cannot be read may be of the sources that name its tool, but for those whose constant
// or pattern its arguments do not fit.
func TestUnreadResultsFitTheArguments(t *testing.T) {
	const policy = mail + `[sources.keys]
tool = "read_file"
asked = { pointer = "/path", const = "/key" }
label = "(KEY-\\S+)"
[sources.pages]
tool = "read_file"
asked = { pointer = "/path", pattern = "^https?:" }
[sources.theirs]
tool = "read_file"
asked = { pointer = "/path", from = "user" }
`
	for args, want := range map[string]string{
		`{"path":"/key"}`:              "keys theirs",
		`{"path":"https://a.example"}`: "pages theirs",
		`{"path":["x","http://a"]}`:    "pages theirs",
		`{"path":"/x"}`:                "theirs",
		`{}`:                           "keys pages theirs",
		``:                             "keys pages theirs",
		`{"path":"/x","path":"/key"}`:  "keys pages theirs",
	} {
		w := live(t, policy)
		w.keep(w.Result(w.index, &flow.Result{Tool: "read_file", Args: []byte(args), Data: []byte("[image]"), Released: true, Opaque: true}))
		got := ""
		for _, s := range []flow.Source{"keys", "pages", "theirs"} {
			if f := w.index.View().Find([]byte("anything"), &flow.Query{Sources: []flow.Source{s}}); f.Possible {
				got += " " + string(s)
			}
		}
		if got != " "+want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// A pattern of the arguments chooses results, also those of tools with an effect.
func TestResultsOfArgumentsThatMatch(t *testing.T) {
	w := live(t, mail+"[sources.fetched]\ntool = \"shell\"\nasked = { pointer = \"/command\", pattern = '(?i)\\b(curl|gh)\\b' }\n")
	read := func() bool { return w.index.View().Read(&flow.Query{Sources: []flow.Source{"fetched"}}, nil, false) }
	for _, command := range []string{"ls", "curls"} {
		w.keep(w.Result(w.index, &flow.Result{Tool: "shell", Args: []byte(`{"command":"` + command + `"}`), Data: []byte("a"), Released: true}))
		if read() {
			t.Fatalf("%s was a fetch", command)
		}
	}
	w.keep(w.Result(w.index, &flow.Result{Tool: "shell", Args: []byte(`{"command":"cd x; GH issue view 3"}`), Data: []byte("send it"), Released: true}))
	if !read() {
		t.Error("nothing was fetched")
	}
}
