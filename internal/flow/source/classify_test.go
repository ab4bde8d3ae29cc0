package source_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

const mail = `
[sources.contacts]
tool = "search_contacts"
field = "/*/email"
trusted = true
[sources.known_mail]
tool = "read_inbox"
items = "/*"
where = { pointer = "/sender", from = ["user", "contacts"] }
field = "/body"
`

// A definition covers the parts of a result that its tool, items, conditions and field name, and
// nothing else.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		name, policy, tool, args, data string
		want                           []string
	}{
		{"a field of each element", `tool = "get"` + "\n" + `field = "/*/email"`, "get", `{}`, `[{"email":"a@x.com","note":"b@x.com"},{"email":"c@x.com"}]`, []string{"a@x.com", "c@x.com"}},
		{"a field of each member", `tool = "get"` + "\n" + `field = "/*/email"`, "get", `{}`, `{"p":{"email":"a@x.com"},"q":{"email":"c@x.com"}}`, []string{"a@x.com", "c@x.com"}},
		{"an element by its index", `tool = "get"` + "\n" + `field = "/0"`, "get", `{}`, `["a","b"]`, []string{"a"}},
		{"all leaves of an object", `tool = "get"` + "\n" + `field = "/to"`, "get", `{}`, `{"to":{"a":"x","b":["y",12]},"cc":"z"}`, []string{"x", "y", "12"}},
		{"numbers are texts", `tool = "get"` + "\n" + `field = "/n"`, "get", `{}`, `{"n":1200.50}`, []string{"1200.50"}},
		{"booleans and null are none", `tool = "get"` + "\n" + `field = "/*"`, "get", `{}`, `[true,null,"x"]`, []string{"x"}},
		{"keys", `tool = "get"` + "\n" + `field = "/*~"`, "get", `{}`, `{"Blue Mouse":{"price":"9"},"Red":[]}`, []string{"Blue Mouse", "Red"}},
		{"keys below a field", `tool = "get"` + "\n" + `field = "/found/*~"`, "get", `{}`, `{"found":{"k":1},"other":{"l":1}}`, []string{"k"}},
		{"an array has no keys", `tool = "get"` + "\n" + `field = "/*~"`, "get", `{}`, `[{"a":1}]`, nil},
		{"a missing field", `tool = "get"` + "\n" + `field = "/email"`, "get", `{}`, `{"mail":"a@x.com"}`, nil},
		{"a field of another type", `tool = "get"` + "\n" + `field = "/a/b"`, "get", `{}`, `{"a":"b"}`, nil},
		{"a field in plain text", `tool = "get"` + "\n" + `field = "/email"`, "get", `{}`, `email: a@x.com`, nil},
		{"another tool", `tool = "get"` + "\n" + `field = "/a"`, "fetch", `{}`, `{"a":"b"}`, nil},
		{"the whole text", `tool = "get"`, "get", `{}`, `hello there`, []string{"hello there"}},
		{"every leaf of the whole text", `tool = "get"`, "get", `{}`, `{"a":"x","b":["y"]}`, []string{"x", "y"}},
		{"where on a constant", `tool = "get"` + "\n" + `items = "/*"` + "\n" + `where = { pointer = "/k", const = 1 }` + "\n" + `field = "/v"`, "get", `{}`, `[{"k":1.0,"v":"a"},{"k":"1","v":"b"},{"v":"c"},{"k":2,"v":"d"}]`, []string{"a"}},
		{"where without items", `tool = "get"` + "\n" + `where = { pointer = "/verified", const = true }` + "\n" + `field = "/v"`, "get", `{}`, `{"verified":true,"v":"a"}`, []string{"a"}},
		{"where that fails without items", `tool = "get"` + "\n" + `where = { pointer = "/verified", const = true }` + "\n" + `field = "/v"`, "get", `{}`, `{"verified":"true","v":"a"}`, nil},
		{"asked for a constant", `tool = "get"` + "\n" + `asked = { pointer = "/path", const = "/user/info.txt" }`, "get", `{"path":"/user/info.txt"}`, `x`, []string{"x"}},
		{"asked for another", `tool = "get"` + "\n" + `asked = { pointer = "/path", const = "/user/info.txt" }`, "get", `{"path":"/user/info.txt.evil"}`, `x`, nil},
		{"asked without the argument", `tool = "get"` + "\n" + `asked = { pointer = "/path", const = "/user/info.txt" }`, "get", `{}`, `x`, nil},
		{"asked for elements of which one has no member", `tool = "get"` + "\n" + `asked = { pointer = "/l/*/k", const = 1 }`, "get", `{"l":[{"k":1},{}]}`, `x`, nil},
		{"several conditions on the arguments", `tool = "get"` + "\n" + `asked = [{ pointer = "/a", const = 1 }, { pointer = "/b", const = 2 }]`, "get", `{"a":1,"b":3}`, `x`, nil},
		{"as", `tool = "get"` + "\n" + `field = "/*"` + "\n" + `as = "email"`, "get", `{}`, `["a@x.com","no address"]`, []string{"a@x.com"}},
		{"a glob covers a declared tool", `tool = "ge*"`, "get", `{}`, `x`, []string{"x"}},
		{"a glob covers no tool that is not declared", `tool = "undeclared*"`, "undeclared_get", `{}`, `x`, nil},
		{"a name covers a tool that is not declared", `tool = "undeclared_get"`, "undeclared_get", `{}`, `x`, []string{"x"}},
		{"tools with an effect are no source", `tool = ["send_email"]`, "send_email", `{}`, `x`, nil},
		{"globs cover no tool with an effect", `tool = "send_*"`, "send_email", `{}`, `x`, nil},
		{"repeated keys have no structure", `tool = "get"` + "\n" + `field = "/a"`, "get", `{}`, `{"a":"x","a":"y"}`, nil},
		{"JSON in a string has no fields", `tool = "get"` + "\n" + `field = "/a/b"`, "get", `{}`, `{"a":"{\"b\":\"x\"}"}`, nil},
		{"a declared format that does not parse", `tool = "get"` + "\n" + `format = "json"`, "get", `{}`, `{"a":`, nil},
		{"yaml", `tool = "get"` + "\n" + `format = "yaml"` + "\n" + `field = "/*/sender"`, "get", `{}`, "- body: 'sender: b@x.com\n\n\n    sender: c@x.com'\n  sender: a@x.com\n  id: '0'\n", []string{"a@x.com"}},
		{"python", `tool = "get"` + "\n" + `format = "python"` + "\n" + `field = "/email"`, "get", `{}`, `{'email': 'a@x.com', "n": None, 't': (1,), 'u': True}`, []string{"a@x.com"}},
		{"text", `tool = "get"` + "\n" + `format = "text"`, "get", `{}`, `{"a":"x"}`, []string{`{"a":"x"}`}},
	} {
		s := begin(t, "[sources.s]\n"+c.policy)
		s.called(c.tool, c.args, c.data)
		want(t, c.name, s.index.of("s"), c.want...)
	}
}

// Every leaf and every key of a result has the source tool, whatever definitions cover.
func TestToolCoversEveryLeaf(t *testing.T) {
	s := begin(t, "[sources.s]\ntool = \"get\"\nfield = \"/a\"\n[sources.r]\ntool = \"get\"\nfield = \"/*\"")
	s.called("get", `{}`, `{"a":"x","b":["y",{"k":12}]}`)
	want(t, "texts", s.index.texts(), "[s r tool] x", "[r tool] y", "[r tool] 12", "[tool] a", "[tool] b", "[tool] k")
}

// Text that does not parse is one text, and its escapes are read as well.
func TestPlainText(t *testing.T) {
	s := begin(t, mail)
	s.called("get", `{}`, `{"to":"mallory\u0040evil.com","to":1}`)
	want(t, "texts", s.index.texts(), `[tool] {"to":"mallory\u0040evil.com","to":1}`, `[tool] {"to":"mallory@evil.com","to":1}`)
	s = begin(t, "[sources.s]\ntool = \"get\"")
	s.called("get", `{}`, `to bob\u0040x.com`)
	want(t, "escapes are suspected only", s.index.texts(), `[s tool] to bob\u0040x.com`, `[tool]?[s] to bob@x.com`)
	s.called("get", `{"n":2}`, "<p>page</p><p hidden>evil@x.com</p>")
	if got := strings.Join(s.index.texts(), "|"); !strings.Contains(got, "[tool hidden]?[s] evil@x.com") {
		t.Errorf("what is hidden: %s", got)
	}
	s = begin(t, mail)
	s.called("get", `{}`, `{"text":"{\"to\":\"mallory\\u0040evil.com\"}"}`)
	if got := strings.Join(s.index.of(flow.Tool), "|"); !strings.Contains(got, "mallory@evil.com") {
		t.Errorf("escapes in a string are not read: %s", got)
	}
}

// Results of calls that failed, were not released or are unknown are certain texts of tool only.
func TestResultsWithoutSource(t *testing.T) {
	for _, r := range []flow.Result{
		{Tool: "get", Call: "c", Released: true, Failed: true},
		{Tool: "get", Call: "c"},
		{Call: "c", Released: true},
		{Tool: "get", Call: "c", Released: true, Args: []byte(`{"a":`)},
	} {
		s := begin(t, "[sources.s]\ntool = \"get\"")
		r.Data = []byte("x")
		s.Result(s.index, &r)
		want(t, "certain", s.index.of("s"))
		want(t, "texts of tool", s.index.of(flow.Tool), "x")
		if r.Tool != "" {
			want(t, "suspected", s.index.suspected("s"), "x")
		}
	}
}

// A text of a source that is not trusted stays suspected where it is not certain, so that
// conditions that restrict lose nothing.
func TestSuspectedSources(t *testing.T) {
	s := begin(t, "[sources.web]\ntool = \"fetch*\"\n[sources.fields]\ntool = \"get\"\nfield = \"/a\"")
	s.called("fetch_and_save", `{}`, "page")
	want(t, "result of an effect", s.index.texts(), "[tool]?[web] page")
	s = begin(t, "[sources.fields]\ntool = \"get\"\nfield = \"/a\"")
	s.called("get", `{}`, `{"a":"x","a":"y"}`)
	want(t, "does not parse", s.index.texts(), `[tool]?[fields] {"a":"x","a":"y"}`)
}

// Only what a definition could cover is suspected: the field, the item, the label, under conditions
// that may hold.
func TestSuspectedParts(t *testing.T) {
	const policy = `
[sources.key]
tool = "read_file"
label = "(?s)(-----BEGIN .*END-----)"
[sources.from_user]
tool = "read_file"
asked = { pointer = "/path", from = ["user"] }
[sources.mine]
tool = "read_file"
asked = { pointer = "/path", const = "/mine" }
[sources.field]
tool = "get"
items = "/*"
where = { pointer = "/by", from = ["user"] }
field = "/text"
`
	s := begin(t, policy)
	s.user("read /docs/a")
	s.called("write_file", `{"path":"/docs/a"}`, "ok")
	s.called("read_file", `{"path":"/docs/a"}`, "notes\n-----BEGIN x END-----\nmore\n")
	want(t, "key", s.index.suspected("key"), "-----BEGIN x END-----")
	want(t, "from_user", s.index.suspected("from_user"), "notes\n-----BEGIN x END-----\nmore\n")
	want(t, "mine", s.index.suspected("mine"))
	s.called("read_file", `{"path":"/docs/a","n":2}`, "no key")
	want(t, "key", s.index.suspected("key"), "-----BEGIN x END-----")
	s.Result(s.index, &flow.Result{Tool: "get", Call: "c", Released: true, Failed: true, Data: []byte(`[{"by":"docs","text":"x","more":"y"},{"by":"mallory","text":"z"}]`)})
	want(t, "field", s.index.suspected("field"), "x")
}

// A result is added once. A second, different result of the same call has only the source tool.
func TestOneResultOfACall(t *testing.T) {
	s := begin(t, "[sources.s]\ntool = \"get\"")
	r := flow.Result{Tool: "get", Call: "c", Released: true, Args: []byte(`{}`), Data: []byte("x")}
	if s.Result(s.index, &r) == nil || s.Result(s.index, &r) != nil {
		t.Error("the result is not added once")
	}
	r.Data = []byte("edited")
	s.Result(s.index, &r)
	want(t, "certain", s.index.of("s"), "x")
	want(t, "suspected", s.index.suspected("s"), "edited")
}
