package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
)

// Proves D26-02, D26-03, D26-04, D26-05, D26-07, D26-08, D26-12, D26-13, D26-14, D26-25, D26-26,
// D26-27, D26-30, D26-31, D25-40, K10, K11, K12, K13, K15, M08, M09: the verdict after every byte
// of the arguments.
func TestStreaming(t *testing.T) {
	createFile := []string{`arg = "/path", prefix = "src/", mode = "unattended"`, `mode = "ask"`}
	nested := []string{`arg = "/patterns/paths", prefix = "secret/", mode = "deny"`, `mode = "unattended"`}
	judge(t, []judgement{
		{name: "D26-02 a rule above whose parameter has not come blocks", policy: rules(`arg = "/mode", const = "x", mode = "deny"`, `arg = "/path", prefix = "src/", mode = "unattended"`, `mode = "ask"`),
			args: `{"path":"src/a","content":"..","mode":"y"}`, want: "unattended rule_matched rule 1", upto: `{"path":"src/a","content":"..","mode":"y`},
		{name: "D26-03 eliminated, then the next", policy: rules(createFile...), args: `{"path":"lib/a","content":"long"}`, want: "ask rule_matched rule 1", upto: `{"path":"lib/a"`},
		{name: "D26-03 matched", policy: rules(createFile...), args: `{"path":"src/a","content":"long"}`, want: "unattended rule_matched rule 0", upto: `{"path":"src/a"`, pointer: "/path"},
		{name: "D26-04 all eliminated", policy: rules(`arg = "/path", prefix = "src/", mode = "unattended"`), args: `{"path":"lib/a","content":"long"}`, want: "ask no_rule_matched", upto: `{"path":"lib/a"`},
		{name: "D26-05 no condition", policy: rules(`mode = "ask"`), args: `{"path":"lib/a"}`, want: "ask rule_matched rule 0", upto: nothing},
		{name: "D26-26 skip before any byte", policy: rules(`mode = "skip"`), args: `{"path":`, want: "skip rule_skipped rule 0", upto: nothing},
		{name: "D26-27 edit is known early", policy: rules(`arg = "/path", prefix = "src/", mode = "edit"`, `mode = "ask"`), args: `{"path":"src/a","content":"long"}`, want: "edit rule_matched rule 0", upto: `{"path":"src/a"`},
		{name: "D26-12 a nested leaf", policy: rules(nested...), args: `{"patterns":[{"old":"x","paths":["secret/a"]},{"paths":["b"]}]}`, want: "deny rule_matched rule 0",
			upto: `{"patterns":[{"old":"x","paths":["secret/a"`, pointer: "/patterns/0/paths/0"},
		{name: "D26-13 the second element decides", policy: rules(nested...), args: `{"patterns":[{"paths":["a","secret/a"`, want: "deny rule_matched rule 0",
			upto: `{"patterns":[{"paths":["a","secret/a"`, pointer: "/patterns/0/paths/1"},
		{name: "D26-14 the array ends without a match", policy: rules(nested...), args: `{"patterns":[{"paths":["a"]}],"content":"long"}`, want: "unattended rule_matched rule 1",
			upto: `{"patterns":[{"paths":["a"]}]`},
		{name: "D26-30 out of order", policy: rules(createFile...), args: `{"content":"long","path":"src/a"}`, want: "unattended rule_matched rule 0", upto: `{"content":"long","path":"src/a"`},
		{name: "D26-31 no guess past a waiting rule", policy: rules(`arg = "/n", minimum = 5, mode = "unattended"`, `arg = "/path", prefix = "src/", mode = "ask"`, `mode = "deny"`),
			args: `{"path":"src/a","content":"long"}`, want: "ask rule_matched rule 1"},
		{name: "K10 one mode left is known although the rule is not", policy: rules(`arg = "/n", minimum = 5, mode = "ask"`, `arg = "/path", prefix = "src/", mode = "ask"`, `mode = "ask"`),
			args: `{"path":"lib/a"}`, want: "ask rule_matched rule 2", upto: nothing},
		{name: "K9 deny by agreement names candidates", policy: rules(`arg = "/n", minimum = 5, mode = "deny"`, `arg = "/path", const = "x", mode = "deny"`, `mode = "deny"`),
			args: `{"path":"lib/a"}`, want: "deny rule_matched", upto: nothing},
		{name: "K11 absence is known with the object that lacks it", policy: rules(`arg = "/patterns/old", const = "x", mode = "deny"`, `mode = "unattended"`),
			args: `{"patterns":[{"paths":["a"]}],"content":"long"}`, want: "unattended rule_matched rule 1", upto: `{"patterns":[{"paths":["a"]}]`},
		{name: "K12 const has failed at its first other byte", policy: rules(`arg = "/mode", const = "rm", mode = "deny"`, `mode = "unattended"`),
			args: `{"mode":"run"}`, want: "unattended rule_matched rule 1", upto: `{"mode":"ru`},
		{name: "prefix has matched with its last byte", policy: rules(`arg = "/content", prefix = "#!", mode = "deny"`, `mode = "unattended"`),
			args: `{"content":"#!/bin/sh\necho`, want: "deny rule_matched rule 0", upto: `{"content":"#!`, pointer: "/content"},
		{name: "an escape counts with its last byte", policy: rules(`arg = "/content", prefix = "#!", mode = "deny"`, `mode = "unattended"`),
			args: `{"content":"\u0023\u0021/bin/sh"}`, want: "deny rule_matched rule 0", upto: `{"content":"\u0023\u0021`},
		{name: "K13 a path is known with its closing quote", policy: rules(`arg = "/path", prefix = "src/", mode = "deny"`, `mode = "unattended"`),
			args: `{"path":"src/aaaa"}`, want: "deny rule_matched rule 0", upto: `{"path":"src/aaaa"`},
		{name: "a number is known with the byte that ends it", policy: rules(`arg = "/n", minimum = 5, mode = "deny"`, `mode = "unattended"`),
			args: `{"n":50 ,"path":"a"}`, want: "deny rule_matched rule 0", upto: `{"n":50 `},
		{name: "a permission is eliminated at its first bad leaf", policy: rules(`arg = "/patterns/paths", prefix = "src/", mode = "unattended"`, `arg = "/patterns/paths", const = ".env", mode = "deny"`, `mode = "ask"`),
			args: `{"patterns":[{"paths":[".env","src/a"`, want: "deny rule_matched rule 1", upto: `{"patterns":[{"paths":[".env"`},
	})
}

// Proves D26-15: an element that matched has decided its rule: no later element, and no later end of
// an array, takes that back or gives the decision to another rule.
func TestAMatchStays(t *testing.T) {
	b := compile(t, rules(`arg = "/patterns/paths", prefix = "src/secret/", mode = "ask"`, `arg = "/patterns/paths", prefix = "src/", mode = "unattended"`, `mode = "edit"`)).Bind(stopgate.Call{Tool: "fs_modify_file"})
	const first, rest = `{"patterns":[{"paths":["src/a","src/secret/b"`, `,"src/c"]},{"paths":["lib/d"]},{"paths":[]}]}`
	e := b.Evaluate()
	e.Feed([]byte(first))
	want := spell(e.Verdict())
	for i := range len(rest) {
		if v := e.Verdict(); brief(v) != "ask rule_matched rule 0" || spell(v) != want {
			t.Fatalf("after %s%s: %s", first, rest[:i], spell(v))
		}
		e.Feed([]byte{rest[i]})
	}
	if v := e.Close(stopgate.Ended); brief(v) != "ask rule_matched rule 0" {
		t.Fatal(spell(v))
	}
}

// Proves D26-08, D26-25, K7, I4, M09: an early permission is published but never final: later bytes
// can tighten it, and nothing is released before the end.
func TestProvisionalPermission(t *testing.T) {
	b := compile(t, srcOnly).Bind(stopgate.Call{Tool: "fs_modify_file"})
	e := b.Evaluate()
	if v := e.Verdict(); v.Decided {
		t.Fatalf("known before any byte: %s", spell(v))
	}
	if v := e.Feed([]byte(`{"path":"src/a"`)); brief(v) != "unattended rule_matched rule 0" || e.Args() != nil || e.Document().Root().IsValid() {
		t.Fatalf("%s, releases %q", spell(v), e.Args())
	}
	if v := e.Feed([]byte(`,"root":"/"`)); brief(v) != "ask unknown_parameter" {
		t.Fatal(spell(v))
	}
	if v := e.Feed([]byte(`,"path":".env"}`)); brief(v) != "deny duplicate_key" {
		t.Fatal(spell(v))
	}
	if v := e.Close(stopgate.Ended); brief(v) != "deny duplicate_key" || e.Args() != nil {
		t.Fatal(spell(v))
	}
}

// Proves K7: the first terminal event in byte order wins, whatever bytes follow; at one byte
// integrity precedes the rules.
func TestK7FirstTerminalEventWins(t *testing.T) {
	deny := rules(`arg = "/path", const = ".env", mode = "deny"`, `arg = "/n", minimum = 5, mode = "deny"`, `mode = "unattended"`)
	judge(t, []judgement{
		{name: "rule before garbage", policy: deny, args: `{"path":".env", garbage`, want: "deny rule_matched rule 0", upto: `{"path":".env"`},
		{name: "garbage before the rule", policy: deny, args: `{garbage "path":".env"`, want: "deny malformed_arguments", upto: `{g`},
		{name: "rule before a cut stream", policy: deny, args: `{"path":".env"`, end: stopgate.Truncated, want: "deny rule_matched rule 0"},
		{name: "at one byte: schema before rule", policy: deny, args: `{"path":7,"n":9}`, want: "deny schema_violation"},
		{name: "a number's rule before the closing brace", policy: deny, args: `{"path":7,"n":9 }`, want: "deny rule_matched rule 1", upto: `{"path":7,"n":9 `},
		{name: "skip of the list before a guard's deny", policy: rules(`arg = "/path", const = "x", mode = "skip"`, `mode = "unattended"`) +
			"[[guard]]\narg = \"/n\"\nminimum = 5\nmode = \"deny\"\n", args: `{"path":"x","n":9}`, want: "skip rule_skipped rule 0", upto: `{"path":"x"`},
		{name: "a guard's deny before the list's skip", policy: rules(`arg = "/path", const = "x", mode = "skip"`, `mode = "unattended"`) +
			"[[guard]]\narg = \"/n\"\nminimum = 5\nmode = \"deny\"\n", args: `{"n":9,"path":"x"}`, want: "deny rule_matched rule 0", upto: `{"n":9,`},
		{name: "at one byte: the strictest", policy: rules(`arg = "/path", const = "x", mode = "deny"`, `mode = "unattended"`) +
			"[[guard]]\narg = \"/path\"\nconst = \"x\"\nmode = \"skip\"\n", args: `{"path":"x"}`, want: "deny rule_matched rule 0", upto: `{"path":"x"`},
	})
}

// Proves K14: at the end of the object required members are checked first, then types, then rules
// on absent arguments.
func TestK14OrderAtTheEnd(t *testing.T) {
	const required = `version = 1
[tools.fs_modify_file.parameters.path]
type = "path"
required = true
[tools.fs_modify_file.parameters.n]
type = "number"
[tools.fs_modify_file.policy]
run = [ { arg = "/n", present = false, mode = "deny" }, { mode = "unattended" } ]
`
	judge(t, []judgement{
		{name: "required before absent", policy: required, args: `{}`, want: "deny schema_violation", pointer: ""},
		{name: "type before absent", policy: required, args: `{"path":5}`, want: "deny schema_violation", pointer: "/path"},
		{name: "absent", policy: required, args: `{"path":"a"}`, want: "deny rule_matched rule 0"},
	})
}

// Proves K16: offsets count argument bytes; a Feed with several verdicts returns the last one, and
// the trace has all of them.
func TestK16Trace(t *testing.T) {
	b := compile(t, srcOnly).Bind(stopgate.Call{Tool: "fs_modify_file"})
	e := b.Evaluate()
	args := `{"path":"src/a","root":1,"path":2}`
	if v := e.Feed([]byte(args)); brief(v) != "deny duplicate_key" {
		t.Fatal(spell(v))
	}
	var got []string
	for _, v := range e.Trace() {
		got = append(got, brief(v)+" upto "+args[:v.DecidedAt])
	}
	want := []string{
		`unattended rule_matched rule 0 upto {"path":"src/a"`,
		`ask unknown_parameter upto {"path":"src/a","root"`,
		`deny duplicate_key upto {"path":"src/a","root":1,"path"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if e.Bytes() != int64(len(args)) {
		t.Fatalf("%d bytes received", e.Bytes())
	}
	e.Feed([]byte("more"))
	if e.Bytes() != int64(len(args))+4 {
		t.Fatal("bytes after the decision are not counted")
	}
}

// Proves K51, I4, A13, F10: the end of the arguments decides, whatever they are; calls after the
// end have no effect.
func TestEnds(t *testing.T) {
	b := compile(t, rules(`mode = "unattended"`)).Bind(stopgate.Call{Tool: "fs_modify_file"})
	for _, c := range []struct {
		end  stopgate.End
		want string
	}{
		{stopgate.Ended, "unattended rule_matched rule 0"},
		{stopgate.Truncated, "deny stream_truncated"},
		{stopgate.Failed, "deny stream_truncated"},
		{stopgate.Cancelled, "deny cancelled"},
	} {
		e := b.Evaluate()
		e.Feed([]byte(`{"path":"src/a"}`))
		if v := e.Close(c.end); brief(v) != c.want {
			t.Errorf("%s: %s, want %s", c.end, brief(v), c.want)
		}
		released := string(e.Args())
		e.Feed([]byte(`x`))
		if v := e.Close(stopgate.Ended); brief(v) != c.want || string(e.Args()) != released {
			t.Errorf("%s: closing again gives %s", c.end, brief(v))
		}
		if c.end != stopgate.Ended && released != "" {
			t.Errorf("%s releases %q", c.end, released)
		}
	}
}

// Proves W10: a refusal from outside ends a call unless it has already ended.
func TestRefuse(t *testing.T) {
	b := compile(t, rules(`arg = "/path", const = "x", mode = "skip"`, `mode = "ask"`)).Bind(stopgate.Call{Tool: "fs_modify_file"})
	e := b.Evaluate()
	e.Feed([]byte(`{"path":`))
	if v := e.Refuse(stopgate.LayerIntegrity, stopgate.CodeProtocolViolation, "index"); brief(v) != "deny protocol_violation" || v.DecidedAt != 8 || e.Cause() != "index" {
		t.Fatalf("%s %q", spell(v), e.Cause())
	}
	e.Reset(b)
	e.Feed([]byte(`{"path":"x"`))
	if v := e.Refuse(stopgate.LayerIntegrity, stopgate.CodeProtocolViolation, "index"); brief(v) != "skip rule_skipped rule 0" || e.Cause() != "" {
		t.Fatal(spell(v))
	}
}

// Proves I14: an evaluation without a binding denies.
func TestZeroEvaluationDenies(t *testing.T) {
	var e eval.Evaluation
	for _, v := range []stopgate.Verdict{e.Verdict(), e.Feed([]byte(`{}`)), e.Close(stopgate.Ended)} {
		if v.Mode != stopgate.Deny {
			t.Fatal(spell(v))
		}
	}
	if e.Args() != nil || e.Document().Root().IsValid() || len(e.Explain().Lists) != 0 {
		t.Fatal("it has something to show")
	}
}
