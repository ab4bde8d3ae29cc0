package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/source"
)

// The closure of a source is everything that it depends on, down to the built-in sources, and its
// risks.
func TestClosures(t *testing.T) {
	_, tables := sources(t, mail+`
[sources.link]
tool = "read_*"
items = "/*"
where = { pointer = "/by", label = "^([a-z]{3,})@", from = ["known_mail", "tool"] }
field = "/url"
[sources.page]
tool = "fetch"
`)
	var lines []string
	for _, c := range source.Closures([]source.File{{Sources: tables}}) {
		lines = append(lines, fmt.Sprintf("%s %t %v %v %v %d", c.Source, c.Trusted, c.Leans, c.All, c.Roots, c.Longest))
		for _, r := range c.Risks {
			lines = append(lines, "  "+r.Text)
		}
	}
	want(t, "closures", lines,
		`contacts true [] [] [] 1`,
		`known_mail false [{user where "/sender"} {contacts where "/sender"}] [contacts user] [user] 2`,
		`link false [{known_mail where "/by"} {tool where "/by"}] [contacts known_mail tool user] [tool user] 3`,
		`  "/by" is compared by a part of its text: others can have the same words`,
		`  "read_*" covers tools that are declared later`,
		`  it depends on "tool": anybody whose text the agent reads can write it`,
		`  3 definitions depend on each other: a hole in one is a hole in all`,
		`page false [] [] [] 1`,
		`  it is the whole result: everybody who can write a part of it can write every value`,
	)
}

// A definition that leans on itself, through whichever others, covers nothing: the parser refuses it
// in one file, and several files can make one.
func TestCycles(t *testing.T) {
	_, a := sources(t, "[sources.a]\ntool = \"get\"\nasked = { pointer = \"/q\", from = [\"b\", \"user\"] }\n[sources.b]\ntool = \"get\"\n[sources.c]\ntool = \"get\"")
	_, b := sources(t, "[sources.a]\ntool = \"other\"\n[sources.b]\ntool = \"get\"\nasked = { pointer = \"/q\", from = [\"a\", \"user\"] }")
	files := []source.File{{Sources: a}, {Sources: b}}
	s := &session{Reader: source.New(source.Config{Files: files, Tool: facts}), index: &plainIndex{keys: map[string]bool{}}}
	s.user("the lamp")
	s.called("get", `{"q":"the lamp"}`, "x")
	want(t, "a", s.index.of("a"))
	want(t, "b", s.index.of("b"))
	want(t, "c", s.index.of("c"), "x")
	for _, c := range source.Closures(files) {
		if c.Cycle != (c.Source != "c") {
			t.Errorf("%s: cycle %t", c.Source, c.Cycle)
		}
	}
}

// A source that two files of a scope declare is trusted if both say so.
func TestTrusted(t *testing.T) {
	_, a := sources(t, "[sources.a]\ntool = \"get\"\ntrusted = true\n[sources.b]\ntool = \"get\"\ntrusted = true")
	_, b := sources(t, "[sources.a]\ntool = \"get\"\n[sources.c]\ntool = \"get\"\ntrusted = true")
	got := source.Trusted([]source.File{{Sources: a}, {Sources: b}, {Sources: b, Scope: "@1"}})
	if !slices.Equal(got, []flow.Source{"b", "c", "c@1"}) {
		t.Errorf("trusted: %q", got)
	}
}

// The meaning of a reader changes with everything that it depends on.
func TestMeaning(t *testing.T) {
	seen := map[string]string{}
	for _, policy := range []string{
		"", mail, strings.Replace(mail, "/body", "/text", 1), strings.Replace(mail, "/sender", "/from", 1), strings.Replace(mail, "trusted = true", "", 1),
		strings.Replace(mail, `"user", `, "", 1), "[sources.s]\ntool = \"get\"", "[sources.s]\ntool = \"get*\"", "[sources.s]\ntool = \"get\"\nlabel = \"a(b)\"",
		"[sources.s]\ntool = \"get\"\nformat = \"yaml\"", "[sources.user]\nonly = \"last\"", "[flow]\nown = [\"a@x.com\"]",
	} {
		m := begin(t, policy).Meaning()
		if other, ok := seen[m]; ok {
			t.Errorf("%q and %q have one meaning", policy, other)
		}
		seen[m] = policy
	}
	if two(t, mail, "").Meaning() != two(t, mail, "[sources.user]\nonly = \"last\"").Meaning() {
		t.Error("an untrusted file limits the user to the last message")
	}
	if begin(t, mail).Meaning() != begin(t, mail).Meaning() {
		t.Error("one policy has two meanings")
	}
}
