package parser_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

const contacts = "version = 1\n[sources.contacts]\ntool = \"find\"\nfield = \"/*/email\"\ntrusted = true\n"

// sourceText formats a source.
func sourceText(s *syntax.SourceTable) string {
	text := fmt.Sprintf("%s %v", s.Name, s.Tools)
	if s.Trusted {
		text += " trusted"
	}
	conditions := func(name string, list []syntax.SourceCondition) {
		for _, c := range list {
			text += fmt.Sprintf(" %s %s", name, c.Pointer)
			if c.Const != nil {
				text += " is " + c.Const.JSON
			} else {
				text += fmt.Sprintf(" from %v%s", c.From, c.Label+c.As+c.Relation)
			}
		}
	}
	conditions("asked", s.Asked)
	if len(s.Items) > 0 {
		text += " items " + s.Items.String()
	}
	conditions("where", s.Where)
	if len(s.Field) > 0 {
		text += fmt.Sprintf(" field %s", s.Field)
	}
	if s.Keys {
		text += " keys"
	}
	for _, more := range []string{s.Label, s.Format, s.As} {
		if more != "" {
			text += " " + more
		}
	}
	if s.Last {
		text += " last"
	}
	return text
}

// A source table is read with its conditions, pointers and patterns.
func TestSources(t *testing.T) {
	file := parse(t, `version = 1
[sources.mail]
tool = "read_inbox"
items = "/mails/*"
where = { pointer = "/sender", from = ["user", "known"], label = "^(.*)@", as = "text", relation = "below" }
field = "/body"
format = "yaml"
[sources.orders]
tool = ["search", "find_*"]
asked = [ { pointer = "/name", from = "user" }, { pointer = "/limit", const = 5 }, { pointer = "/all", const = { null = true } } ]
field = "/*~"
as = "id"
[sources.known]
tool = "read_file"
trusted = true
label = '(?m)^IBAN: (\S+)$'
[sources.user]
only = "last"
`)
	want := []string{
		"mail [read_inbox] items /mails/* where /sender from [user known]^(.*)@textbelow field /body yaml",
		"orders [search find_*] asked /name from [user] asked /limit is 5 asked /all is null field /* keys id",
		`known [read_file] trusted (?m:^IBAN: (\S+)$)`,
		"user [] last",
	}
	var got []string
	for _, s := range file.Sources {
		got = append(got, sourceText(s))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, has := range map[string]bool{"mail": true, "untrusted": true, "tool": true, "web": false, "": false} {
		if file.HasSource(name) != has {
			t.Errorf("HasSource(%q) is %v", name, !has)
		}
	}
	label := regexp.MustCompile(file.Sources[2].Label)
	if m := label.FindStringSubmatch("Name: X\nIBAN: DE02 \nIBAN: GB29\n"); len(m) != 2 || m[1] != "GB29" {
		t.Errorf("the label matches %q", m)
	}
}

// A pattern of the arguments belongs to sources that are not trusted, and to no other condition.
func TestPatternsOfArguments(t *testing.T) {
	for text, want := range map[string]string{
		`asked = { pointer = "/c", pattern = "(?i)^(curl|gh) " }`:          "",
		`asked = { pointer = "/c", pattern = "^gh" }` + "\ntrusted = true": "`pattern` is no reason to trust a text",
		`where = { pointer = "/c", pattern = "^gh" }` + "\ntrusted = true": "`pattern` is no reason to trust a text",
		`asked = { pointer = "/c", pattern = "^gh", const = "gh" }`:        "one of `const`, `from` and `pattern`",
		`asked = { pointer = "/c", pattern = "^gh", relation = "host" }`:   "`relation` belongs to `from`",
		`asked = { pointer = "/c", pattern = "(" }`:                        "`pattern`",
		`asked = { pointer = "/c", pattern = "a(?=b)" }`:                   "RE2",
	} {
		file, found := parser.Parse(kinds.Table(), "f", []byte("version = 1\n[sources.s]\ntool = \"t\"\n"+text+"\n"))
		if (want == "") == found.HasErrors() || want != "" && !strings.Contains(fmt.Sprint(found), want) {
			t.Errorf("%s: %v", text, found)
		}
		if want == "" && file.Sources[0].Asked[0].Pattern != "(?i:^(curl|gh) )" {
			t.Errorf("pattern %q", file.Sources[0].Asked[0].Pattern)
		}
	}
}

// [flow] has sizes in bytes and in binary units.
func TestFlowSettings(t *testing.T) {
	file := parse(t, "version = 1\n[flow]\nkeep = \"none\"\nkeep_text = true\nown = [\"a@b.example\", \"me\"]\nbudget = \"4MiB\"\n")
	f := file.Flow
	if f.Keep != "none" || !f.KeepText || !slices.Equal(f.Own, []string{"a@b.example", "me"}) || f.Budget != 4<<20 || !f.Present() {
		t.Errorf("%+v", f)
	}
	for text, want := range map[string]int64{"1": 1, `"1KiB"`: 1024, `"1GiB"`: 1 << 30, `"2GiB"`: 0, `"8"`: 0, `"-1MiB"`: 0, `"0MiB"`: 0, "0": 0, "-1": 0, `"MiB"`: 0, `"9999999999999999999KiB"`: 0, "1.5": 0, "true": 0} {
		file, found := parser.Parse(kinds.Table(), "f", []byte("version = 1\n[flow]\nbudget = "+text+"\n"))
		if got := file.Flow.Budget; got != want || found.HasErrors() != (want == 0) {
			t.Errorf("budget = %s: %d, %v", text, got, found)
		}
	}
}

// A condition on a source has the options of its kind, in one order.
func TestConditionsOnSources(t *testing.T) {
	file := parse(t, contacts+`[tools.send]
effect = true
[[tools.send.policy.run]]
segments = true
relation = "below"
from = ["user", "contacts"]
arg = "/to"
mode = "unattended"
when = { says = "(?i)send", anywhere = true, effect = true }
[[tools.send.policy.run]]
all = [ { arg = "/to", from = "user" }, { arg = "/amount", from = "user", weak = true } ]
same_text = true
mode = "unattended"
[[guard]]
on = "string"
carries = "tool"
tokens = 8
when = { effect = false }
mode = "deny"
`)
	rules := file.Tools[0].Run.Rules
	want := []string{
		`arg = "/to", from = ["user", "contacts"], relation = "below", segments = true, when = { says = "(?i:send)", anywhere = true, effect = true }, mode = "unattended"`,
		`all = [{ arg = "/to", from = "user" }, { arg = "/amount", from = "user", weak = true }], same_text = true, mode = "unattended"`,
		`on = "string", carries = "tool", tokens = 8, when = { effect = false }, mode = "deny"`,
	}
	for i, r := range append(rules[:2:2], file.Guards[0]) {
		if got := r.Text(); got != want[i] {
			t.Errorf("rule %d\n%s\nwant\n%s", i, got, want[i])
		}
	}
	if e := file.Tools[0].Effect; e == nil || !*e {
		t.Error("the tool has no effect")
	}
	if !rules[1].SameText || rules[0].SameText {
		t.Error("same_text")
	}
	if v, ok := file.Guards[0].Conditions[0].Spec.Option("tokens"); !ok || v.Text != "8" {
		t.Errorf("tokens is %v, %v", v, ok)
	}
}

// A flow policy names sources and tools, and has conditions on every value of a call.
func TestFlowPolicies(t *testing.T) {
	file := parse(t, contacts+`[tools.browse]
also = ["web_fetch"]
[[session]]
type = "flow"
after = ["contacts", "browse", "web_fetch", "mail_*", "untrusted"]
before = ["effects", "pay_*", "send"]
unless = [ { arg = "*", from = "user" }, { arg = "/to", glob = "*@a.example", match = "any" } ]
where = [ { arg = "/to", present = true }, { arg = "/command", not_from = "user", match = "any" } ]
until = "user"
mode = "ask"
`)
	s := file.Sessions[0]
	if len(s.Where) != 2 || s.Where[1].Arg.String() != "/command" || s.Where[1].Match != syntax.QuantifierAny || s.Objection() != stopgate.Ask {
		t.Errorf("where %+v", s.Where)
	}
	if got := s.AfterSources(file); !slices.Equal(got, []flow.Source{"contacts", "untrusted"}) {
		t.Errorf("after sources %v", got)
	}
	if got := s.AfterTools(file); !slices.Equal(got, []string{"browse", "web_fetch", "mail_*"}) {
		t.Errorf("after tools %v", got)
	}
	if !s.Effects || !s.UntilUser || !s.Asks || !slices.Equal(s.Before, []string{"pay_*", "send"}) {
		t.Errorf("%+v", s)
	}
	if len(s.Unless) != 2 || !s.Unless[0].Every || s.Unless[0].Arg != nil || s.Unless[1].Every || s.Unless[1].Match != syntax.QuantifierAny {
		t.Errorf("unless %+v", s.Unless)
	}
}

// The hash of a policy and the ids of its rules follow the meaning: order and spelling do not count,
// every setting that affects verdicts does.
func TestFlowMeaning(t *testing.T) {
	const text = contacts + `[sources.web]
tool = ["a", "b"]
where = [ { pointer = "/x", const = "y" }, { pointer = "/z", from = ["user", "system"] } ]
asked = { pointer = "/command", pattern = "^curl" }
[flow]
own = ["a", "b"]
[tools.send]
effect = true
policy.run = [
  { arg = "/to", from = ["user", "contacts"], relation = "host", when = { says = "(?i)a" }, mode = "unattended" },
  { all = [ { arg = "/a", from = "user" }, { arg = "/b", from = "user" } ], same_text = true, mode = "unattended" },
  { mode = "ask" },
]
[[session]]
type = "flow"
after = "web"
before = "effects"
unless = [ { arg = "*", from = "user" }, { arg = "/a", from = "system" } ]
where = [ { arg = "/c", const = 1 }, { arg = "/d", not_from = "user" } ]
until = "user"
`
	hash := func(text string) string {
		t.Helper()
		return syntax.Hash(parse(t, text))
	}
	before := hash(text)
	replaced := func(old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for old, new := range map[string]string{
		`["a", "b"]`: `["b", "a", "a"]`,
		`where = [ { pointer = "/x", const = "y" }, { pointer = "/z", from = ["user", "system"] } ]`: `where = [ { pointer = "/z", from = ["system", "user"] }, { const = "y", pointer = "/x" } ]`,
		`["user", "contacts"], relation = "host"`:                                                    `["contacts", "user"], weak = false, relation = "host"`,
		`(?i)a`: `(?i:a)`,
		`where = [ { arg = "/c", const = 1 }, { arg = "/d", not_from = "user" } ]`:   `where = [ { not_from = "user", arg = "/d" }, { arg = "/c", const = 1.0 } ]`,
		`unless = [ { arg = "*", from = "user" }, { arg = "/a", from = "system" } ]`: `unless = [ { from = "system", arg = "/a" }, { arg = "*", from = ["user"] } ]`,
	} {
		if hash(replaced(old, new)) != before {
			t.Errorf("another spelling has another hash: %s", new)
		}
	}
	for old, new := range map[string]string{
		`trusted = true`: `trusted = false`, `"/*/email"`: `"/*/email/*~"`, `["a", "b"]`: `["a"]`, `const = "y"`: `const = "z"`,
		`"/z", from = ["user", "system"]`: `"/z", from = ["user"]`, `own = ["a", "b"]`: `own = ["a"]`, `effect = true`: `effect = false`,
		`relation = "host"`: `relation = "below"`, `same_text = true, `: ``, `(?i)a`: `(?i)b`, `says = "(?i)a"`: `says = "(?i)a", anywhere = true`,
		`before = "effects"`: `before = "send"`, `arg = "*", from = "user"`: `arg = "/b", from = "user"`, `until = "user"`: ``, `after = "web"`: `after = "contacts"`,
		`"^curl"`: `"^wget"`, `pattern = "^curl"`: `const = "^curl"`, `{ arg = "/c", const = 1 }, `: ``,
	} {
		if hash(replaced(old, new)) == before {
			t.Errorf("the hash does not know %s", new)
		}
	}
}

// An untrusted file may declare sources. Settings of [flow] are the operator's, but for the one that
// only tightens.
func TestFlowOperatorOnly(t *testing.T) {
	for text, want := range map[string]bool{
		"[sources.a]\ntool = \"a\"\n": false, "[flow]\nkeep = \"none\"\n": false, "[flow]\n": false,
		"[flow]\nkeep = \"hashes\"\n": true, "[flow]\nbudget = 1\n": true, "[flow]\nown = \"a\"\n": true, "[flow]\nkeep = \"none\"\nkeep_text = true\n": true,
	} {
		if got := len(parse(t, "version = 1\n"+text).OperatorOnly()) > 0; got != want {
			t.Errorf("%s for the operator only: %v", text, got)
		}
	}
}

// The file has a bounded number of sources.
func TestTooManySources(t *testing.T) {
	var text strings.Builder
	text.WriteString("version = 1\n")
	for i := range parser.MaxSources + 1 {
		fmt.Fprintf(&text, "[sources.s%d]\ntool = \"a\"\n", i)
	}
	_, found := parser.Parse(kinds.Table(), "f", []byte(text.String()))
	if len(found) != 1 || found[0].Code != diag.TooLarge {
		t.Error(found)
	}
}

// Names of sources begin with a letter of ASCII and have up to 64 characters.
func TestNamesOfSources(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, valid := range map[string]bool{
		"mail": true, "My-Mail_2": true, "z": true, "Z9": true, long: true,
		"": false, long + "a": false, "9a": false, "-a": false, "_a": false, "a.b": false, "a b": false, "é": false, "a\u017f": false, "@a": false, "a@b": false, "[a": false, "a{": false, "a`": false,
	} {
		_, list := parser.Parse(kinds.Table(), "p.toml", fmt.Appendf(nil, "version = 1\n[sources.%q]\ntool = \"x\"\n", name))
		if bad := slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == diag.BadName }); bad == valid {
			t.Errorf("%q: %v", name, list)
		}
	}
}
