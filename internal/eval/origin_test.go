package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
)

var noData jsonstream.Value

// mail is a tool with parameters of several types.
const mail = `version = 1
[sources.contacts]
tool = "search"
field = "/*/email"
trusted = true
[sources.web]
tool = "fetch"
[tools.search]
[tools.fetch]
[tools.t.parameters]
to = { type = "array", items = { type = "string" } }
name = { type = "string", required = true }
cc = { type = "string" }
n = { type = "number" }
flag = { type = "boolean" }
site = { type = "url" }
file = { type = "path" }
run = { type = "command" }
free = { type = "object", additional_properties = true }
many = { type = "array", items = { type = "object", properties = { id = { type = "string" }, note = { type = "string" } } } }
`

// oneRule returns a policy with one rule that decides for a mode, and the other one for the rest.
func oneRule(tb testing.TB, condition, mode string) *eval.Policies {
	rest := map[string]string{"unattended": "ask", "deny": "unattended", "ask": "unattended"}[mode]
	return compile(tb, mail+fmt.Sprintf("[tools.t.policy]\nrun = [ { %s, mode = %q }, { mode = %q } ]\n", condition, mode, rest))
}

// session is the texts of most tests: of the person, of a trusted and of an untrusted source.
func session() *fakeView {
	return &fakeView{texts: []said{
		{source: flow.User, words: "ann bob 1500 https://a.example/x docs/plan go true"},
		{source: flow.Tool, tool: "search", words: "carl ann@c.example 2600", declared: []flow.Source{"contacts"}},
		{source: flow.Tool, tool: "fetch", words: "mallory 9900 https://evil.example/ etc/passwd", declared: []flow.Source{"web"}},
	}}
}

// The table of what holds: permissive conditions by certainty, restrictive ones by suspicion, for
// known texts, for none, and for a session with a doubt.
func TestOriginsInBothPolarities(t *testing.T) {
	for _, c := range []struct {
		condition, args               string
		permits, restricts            bool // with known texts
		permitsInDoubt, restrictDoubt bool
	}{
		{`arg = "/cc", from = ["user"]`, `{"name":"x","cc":"ann"}`, true, true, true, true},
		{`arg = "/cc", from = ["user"]`, `{"name":"x","cc":"ANN"}`, false, true, false, true},
		{`arg = "/cc", from = ["user"]`, `{"name":"x","cc":"mallory"}`, false, false, false, true},
		{`arg = "/cc", from = ["user", "contacts"]`, `{"name":"x","cc":"carl"}`, true, true, true, true},
		{`arg = "/cc", from = "untrusted"`, `{"name":"x","cc":"mallory"}`, true, true, true, true},
		{`arg = "/cc", from = "untrusted"`, `{"name":"x","cc":"carl"}`, false, false, false, true},
		{`arg = "/cc", not_from = ["tool"]`, `{"name":"x","cc":"ann"}`, true, true, false, true},
		{`arg = "/cc", not_from = ["tool"]`, `{"name":"x","cc":"carl"}`, false, false, false, false},
		{`arg = "/cc", not_from = ["tool"]`, `{"name":"x","cc":"CARL"}`, false, true, false, true},
		// lists by element
		{`arg = "/to", from = ["user", "contacts"]`, `{"name":"x","to":["ann","carl"]}`, true, true, true, true},
		{`arg = "/to", from = ["user"]`, `{"name":"x","to":["ann","mallory"]}`, false, true, false, true},
		{`arg = "/to", from = ["web"]`, `{"name":"x","to":["ann","bob"]}`, false, false, false, true},
		{`arg = "/to", not_from = ["user"]`, `{"name":"x","to":["ann","mallory"]}`, false, true, false, true},
		{`arg = "/to", not_from = ["web"]`, `{"name":"x","to":["ann","bob"]}`, true, true, false, true},
		{`arg = "/many/*/id", from = ["user"]`, `{"name":"x","many":[{"id":"ann"},{"id":"bob","note":"new"}]}`, true, true, true, true},
		{`arg = "/many/*/id", from = ["user"]`, `{"name":"x","many":[{"id":"ann"},{"id":"eve"}]}`, false, true, false, true},
		// numbers and booleans
		{`arg = "/n", from = ["user"]`, `{"name":"x","n":1500}`, true, true, true, true},
		{`arg = "/n", from = ["user"]`, `{"name":"x","n":9900}`, false, false, false, true},
		{`arg = "/n", from = ["web"]`, `{"name":"x","n":9900}`, true, true, true, true},
		{`arg = "/flag", from = ["user"]`, `{"name":"x","flag":true}`, true, true, true, true},
		{`arg = "/flag", from = ["user"]`, `{"name":"x","flag":false}`, false, false, false, true},
		// weak values come from nowhere unless the condition says so
		{`arg = "/cc", from = ["user"]`, `{"name":"x","cc":"go"}`, false, false, false, true},
		{`arg = "/cc", from = ["user"], weak = true`, `{"name":"x","cc":"go"}`, true, true, true, true},
		{`arg = "/cc", not_from = ["user"]`, `{"name":"x","cc":"go"}`, true, true, false, true},
		// objects by leaf, keys too
		{`arg = "/free", from = ["user"]`, `{"name":"x","free":{"ann":"bob"}}`, true, true, true, true},
		{`arg = "/free", from = ["user"]`, `{"name":"x","free":{"ann":{"bob":["ann",1500]}}}`, true, true, true, true},
		{`arg = "/free", from = ["user"]`, `{"name":"x","free":{"ann":{"bob":["ann",1]}}}`, false, true, false, true},
		{`arg = "/free", from = ["user"]`, `{"name":"x","free":{"eve":"bob"}}`, false, true, false, true},
		{`arg = "/free", from = ["web"]`, `{"name":"x","free":{"mallory":"bob"}}`, false, true, false, true},
		{`arg = "/free", from = ["web"]`, `{"name":"x","free":{"bob":{"x":"mallory"}}}`, false, true, false, true},
		{`arg = "/free", from = ["web"]`, `{"name":"x","free":{"bob":"ann"}}`, false, false, false, true},
		{`arg = "/many", from = ["user"]`, `{"name":"x","many":[{"id":"ann","note":"bob"}]}`, true, true, true, true},
		{`arg = "/many", from = ["user"]`, `{"name":"x","many":[{"id":"ann","note":"eve"}]}`, false, true, false, true},
		// addresses and paths must be plain to be certain
		{`arg = "/site", from = ["user"]`, `{"name":"x","site":"https://a.example/x"}`, true, true, true, true},
		{`arg = "/file", from = ["user"]`, `{"name":"x","file":"docs/plan"}`, true, true, true, true},
		{`arg = "/file", from = ["web"]`, `{"name":"x","file":"etc/passwd"}`, true, true, true, true},
		// no value: absent, null, "" and [] satisfy a permissive condition of an optional parameter
		{`arg = "/cc", from = ["user"]`, `{"name":"x"}`, true, false, true, false},
		{`arg = "/cc", from = ["user"]`, `{"name":"x","cc":""}`, true, false, true, false},
		{`arg = "/cc", not_from = ["web"]`, `{"name":"x"}`, true, false, true, false},
		{`arg = "/to", from = ["user"]`, `{"name":"x","to":[]}`, true, false, true, false},
		{`arg = "/to", from = ["user"]`, `{"name":"x","to":["ann",""]}`, false, true, false, true},
		{`arg = "/to", from = ["user"]`, `{"name":"x","to":[[],"ann"]}`, false, true, false, true},
		{`arg = "/name", from = ["user"]`, `{"name":""}`, false, false, false, false},
		{`arg = "/name", not_from = ["user"]`, `{"name":""}`, false, true, false, true},
		{`arg = "/cc", not_from = ["user"]`, `{"name":"x","cc":""}`, true, false, true, false},
		{`arg = "/cc", from = ["user"]`, `{"name":"x","cc":"none"}`, false, false, false, true},
	} {
		for _, s := range []struct {
			name               string
			texts              flow.View
			permits, restricts bool
		}{
			{"known", session(), c.permits, c.restricts},
			{"doubt", inDoubt(flow.Unreported), c.permitsInDoubt, c.restrictDoubt},
		} {
			for mode, want := range map[string]bool{"unattended": s.permits, "deny": s.restricts} {
				if mode == "unattended" && strings.Contains(c.condition, "untrusted") {
					continue // the parser refuses it
				}
				v := with(t, oneRule(t, c.condition, mode), c.args, s.texts)
				if got := v.Mode.String() == mode; got != want {
					t.Errorf("%s: %s on %s in a rule with mode %s: %v holds = %v, want %v", s.name, c.condition, c.args, mode, v, got, want)
				}
			}
		}
	}
}

func inDoubt(d flow.Doubt) flow.View {
	s := session()
	s.doubt = d
	return s
}

// Without texts no permissive condition on a value holds, and every restrictive one does, also for
// values that are in no text.
func TestOriginsFailClosedWithoutTexts(t *testing.T) {
	for _, c := range []string{`from = ["user"]`, `not_from = ["web"]`, `from = ["user"], weak = true`} {
		for _, args := range []string{`{"name":"x","cc":"ann"}`, `{"name":"x","cc":"anything"}`} {
			v := with(t, oneRule(t, `arg = "/cc", `+c, "unattended"), args, nil)
			if v.Mode != stopgate.Ask || v.Code != stopgate.CodeOriginUnknown {
				t.Errorf("permissive %s on %s: %v", c, args, v)
			}
			v = with(t, oneRule(t, `arg = "/cc", `+c, "deny"), args, nil)
			if v.Mode != stopgate.Deny || v.Code != stopgate.CodeOriginUnknown {
				t.Errorf("restrictive %s on %s: %v", c, args, v)
			}
		}
	}
}

// A verdict that follows from texts that are not known has the code of the reason and names the
// value.
func TestDoubtsHaveCodes(t *testing.T) {
	args := `{"name":"x","cc":"eve"}`
	for doubt, code := range map[flow.Doubt]stopgate.Code{flow.Unreported: stopgate.CodeOriginUnknown, flow.Dropped: stopgate.CodeOriginBudget, flow.Dropped | flow.Unreported: stopgate.CodeOriginUnknown} {
		for _, mode := range []string{"unattended", "deny"} {
			v := with(t, oneRule(t, `arg = "/cc", from = ["user"]`, mode), args, inDoubt(doubt))
			if v.Code != code || v.Pointer != "/cc" || v.Public != code.Public() {
				t.Errorf("%v in doubt %d: %v %q %q", mode, doubt, v, v.Pointer, v.Public)
			}
		}
		// What is found is no doubt.
		v := with(t, oneRule(t, `arg = "/cc", from = ["web"]`, "deny"), `{"name":"x","cc":"mallory"}`, inDoubt(doubt))
		if v.Code != stopgate.CodeRuleMatched {
			t.Errorf("found in doubt: %v", v)
		}
	}
}

// A condition on an origin decides at the closing quote of its value.
func TestOriginsDecideAtTheEndOfTheValue(t *testing.T) {
	p := oneRule(t, `arg = "/cc", from = ["web"]`, "deny")
	args := `{"cc":"mallory","name":"x"}`
	if v := with(t, p, args, session()); v.Mode != stopgate.Deny || v.DecidedAt != int64(strings.Index(args, `,"name"`)) {
		t.Errorf("%v", v)
	}
}

// Values of a rule with same_text are from one text.
func TestSameText(t *testing.T) {
	texts := &fakeView{texts: []said{
		{source: flow.User, words: "ann 1500"},
		{source: flow.User, words: "bob 2600"},
		{source: flow.User, words: "ann 2600 both"},
	}}
	rule := `all = [ { arg = "/cc", from = ["user"] }, { arg = "/n", from = ["user"] }, { arg = "/to", from = ["user"] } ], same_text = true`
	for args, want := range map[string]bool{
		`{"name":"x","cc":"ann","n":1500,"to":[]}`:              true,
		`{"name":"x","cc":"ann","n":2600}`:                      true,
		`{"name":"x","cc":"bob","n":1500}`:                      false,
		`{"name":"x","n":1500,"cc":"bob"}`:                      false,
		`{"name":"x","cc":"ann","n":2600,"to":["both"]}`:        true,
		`{"name":"x","cc":"ann","n":1500,"to":["both"]}`:        false,
		`{"name":"x","cc":"ann","n":2600,"to":["both","1500"]}`: false,
	} {
		if v := with(t, oneRule(t, rule, "unattended"), args, texts); (v.Mode == stopgate.Unattended) != want {
			t.Errorf("%s: %v", args, v)
		}
		// A rule that restricts suspects one text.
		restricts := !strings.Contains(args, `[]`) && strings.Contains(args, `"to"`)
		if v := with(t, oneRule(t, rule, "deny"), args, texts); (v.Mode == stopgate.Deny) != restricts {
			t.Errorf("restrictive, %s: %v", args, v)
		}
	}
}

// A guard on strings with conditions on origins reads every string of the call, whatever it is, and
// the keys that no schema names.
func TestGuardsOnOriginsReadEveryString(t *testing.T) {
	texts := &fakeView{texts: []said{{source: flow.Tool, tool: "fetch", words: "mallory one two three four five", declared: []flow.Source{"web"}}}}
	for _, guard := range []string{`on = "string", from = ["web"]`, `on = "string", carries = ["web"], tokens = 5`} {
		p := compile(t, mail+"[[guard]]\n"+strings.NewReplacer(", from", "\nfrom", ", carries", "\ncarries", ", tokens", "\ntokens").Replace(guard)+"\nmode = \"deny\"\n[tools.t.policy]\nrun = \"unattended\"\n")
		value := "mallory"
		if strings.Contains(guard, "carries") {
			value = "so one two three four five it is"
		}
		for _, args := range []string{
			`{"name":%q}`, `{"name":"x","to":["y",%q]}`, `{"name":"x","run":%q}`, `{"name":"x","file":%q}`, `{"name":"x","site":%q}`,
			`{"name":"x","free":{"a":{"b":%q}}}`, `{"name":"x","free":{"a":{%q:1}}}`, `{"name":"x","other":%q}`, `{"name":"x","other":[{"a":%q}]}`, `{"name":"x",%q:1}`,
			`{"name":"x","many":[{"note":%q}]}`,
		} {
			args = fmt.Sprintf(args, value)
			if strings.Contains(args, `"run"`) && strings.Contains(guard, "from") {
				args = strings.Replace(args, value, "echo "+value, 1)
			}
			if v := with(t, p, args, texts); v.Mode != stopgate.Deny || v.Rule == nil {
				t.Errorf("%s: %s: %v", guard, args, v)
			}
			clean := strings.ReplaceAll(args, value, "plain")
			if v := with(t, p, clean, texts); v.Mode == stopgate.Deny {
				t.Errorf("%s: %s: %v", guard, clean, v)
			}
		}
	}
}

// The operands of the commands of a line have origins, in quotes and in nested commands.
func TestOriginsOfCommands(t *testing.T) {
	texts := &fakeView{texts: []said{
		{source: flow.Tool, tool: "fetch", words: "https://evil.example/x mallory get curl", declared: []flow.Source{"web"}},
		{source: flow.User, words: "notes.txt make test"},
	}}
	p := oneRule(t, `arg = "/run", from = ["web"]`, "deny")
	for line, want := range map[string]bool{
		`curl https://evil.example/x`:                true,
		`curl 'https://evil.example/x'`:              true,
		`curl "https://evil"".example/x"`:            true,
		`bash -c "curl https://evil.example/x"`:      true,
		`curl --url=https://evil.example/x`:          true,
		`python3 -c 'get("https://evil.example/x")'`: true,
		`true && curl -o f https://evil.example/x`:   true,
		`echo hi > mallory`:                          true,
		`curl https://good.example/`:                 false,
		`curl`:                                       false,
		`cat notes.txt`:                              false,
	} {
		if v := with(t, p, fmt.Sprintf(`{"name":"x","run":%q}`, line), texts); (v.Mode == stopgate.Deny) != want {
			t.Errorf("%s: %v", line, v)
		}
	}
	if v := with(t, oneRule(t, `arg = "/run", from = ["user"]`, "unattended"), `{"name":"x","run":"make test"}`, texts); v.Mode != stopgate.Ask {
		t.Errorf("permissive: %v", v)
	}
}

// The model hears which values would be accepted, by the names that it knows; explanations have the
// origin of each value.
func TestOriginsAreExplained(t *testing.T) {
	p := compile(t, mail+`[tools.t.policy]
run = [ { arg = "/to", from = ["user", "contacts"], mode = "unattended" }, { mode = "deny" } ]
`)
	v, e := evaluated(t, p, `{"name":"x","to":["ann","mallory"]}`, session())
	if want := "/to is a value that the user named or a result of search has"; v.Mode != stopgate.Deny || !strings.Contains(v.Public, want) {
		t.Errorf("public %q, want %q in it", v.Public, want)
	}
	x := e.Explain().Lists[0].Rules[0].Conditions[0]
	if len(x.Origins) != 2 || !x.Origins[0].Held || x.Origins[1].Held {
		t.Fatalf("%+v", x.Origins)
	}
	if got, want := x.Origins[1].Sentence("mallory"), "`/to/1` = mallory: first seen in the result of fetch (call_fetch), not in what you wrote or a text of contacts"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := x.Origins[0].Sentence(""), "`/to/0`: first seen in what you wrote"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	flow := compile(t, afterWeb("unless = [ { arg = \"*\", from = [\"user\"] } ]\n"))
	if v := with(t, flow, `{"name":"eve"}`, session()); !strings.HasSuffix(v.Public, "every value is a value that the user named.") {
		t.Errorf("public %q", v.Public)
	}
}

// Guards on a type read the undeclared strings that may be of it, too.
func TestGuardsOnOriginsReadUndeclaredStrings(t *testing.T) {
	texts := &fakeView{texts: []said{{source: flow.Tool, tool: "fetch", words: "https://evil.example/x etc/passwd", declared: []flow.Source{"web"}}}}
	for on, value := range map[string]string{"url": "https://evil.example/x", "path": "etc/passwd", "command": "cat etc/passwd"} {
		p := compile(t, "version = 1\n[sources.web]\ntool = \"fetch\"\n[tools.fetch]\n[gate]\nunknown_params = \"allow\"\n[[guard]]\non = \""+on+"\"\nfrom = [\"web\"]\nmode = \"deny\"\n[tools.t.policy]\nrun = \"unattended\"\n")
		for args, want := range map[string]stopgate.Mode{
			fmt.Sprintf(`{"x":%q}`, value): stopgate.Deny, fmt.Sprintf(`{"x":[{"y":%q}]}`, value): stopgate.Deny, `{"x":"https://good.example/"}`: stopgate.Unattended, `{"x":"plain text"}`: stopgate.Unattended,
		} {
			if v := with(t, p, args, texts); v.Mode != want {
				t.Errorf("%s: %s: %v, want %s", on, args, v, want)
			}
		}
		if v := with(t, p, fmt.Sprintf(`{"x":%q}`, value), nil); v.Mode != stopgate.Deny || v.Code != stopgate.CodeOriginUnknown {
			t.Errorf("%s without texts: %v", on, v)
		}
	}
}
