package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
)

// srcOnly permits files below src and asks about everything else.
var srcOnly = rules(`arg = "/path", prefix = "src/", mode = "unattended"`, `mode = "ask"`)

// Proves A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A19, A20, A21,
// A22, A23, A24, A25, A26, P6, P7, K7, M01, M02, M03, M04, M13, M14, M15: JSON text that two
// parsers read differently is never permitted.
func TestThreatsA(t *testing.T) {
	const task = `version = 1
[tools.fs_modify_file.parameters.task]
type = "string"
[tools.fs_modify_file.parameters."caf\u00e9"]
type = "string"
[tools.fs_modify_file.policy]
run = "unattended"
`
	closed := `{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`
	catchAll := rules(`mode = "unattended"`)
	judge(t, []judgement{
		{name: "A1 duplicate after an early decision", policy: srcOnly,
			args: `{"path":"src/a","content":"..","path":".env"}`, want: "deny duplicate_key", upto: `{"path":"src/a","content":"..","path"`},
		{name: "A2 duplicate in escaped spelling", policy: srcOnly,
			args: `{"path":"src/a","\u0070ath":".env"}`, want: "deny duplicate_key", upto: `{"path":"src/a","\u0070ath"`},
		{name: "A3 duplicate in a nested object", policy: catchAll,
			args: `{"patterns":[{"paths":["src/a"],"paths":[".env"]}]}`, want: "deny duplicate_key", upto: `{"patterns":[{"paths":["src/a"],"paths"`},
		{name: "A4 case variant beside the name", policy: srcOnly,
			args: `{"path":"src/a","PATH":".env"}`, want: "deny ambiguous_key", upto: `{"path":"src/a","PATH"`, pointer: "/PATH"},
		{name: "A4 case variant alone", policy: catchAll,
			args: `{"PATH":".env"}`, want: "ask unknown_parameter", upto: `{"PATH"`, pointer: "/PATH"},
		{name: "A4 case variant first", policy: srcOnly,
			args: `{"PATH":".env","path":"src/a"}`, want: "deny ambiguous_key", upto: `{"PATH":".env","path"`},
		{name: "A5 long s", policy: task, args: `{"task":"a","taſk":"b"}`, want: "deny ambiguous_key", upto: `{"task":"a","taſk"`},
		{name: "A5 kelvin sign", policy: task, args: `{"task":"a","tas` + "\u212a" + `":"b"}`, want: "deny ambiguous_key", upto: `{"task":"a","tas` + "\u212a" + `"`},
		{name: "A6 NUL suffix", policy: catchAll,
			args: `{"path":"ok","path\u0000":"evil"}`, want: "deny ambiguous_key", upto: `{"path":"ok","path\u0000"`},
		{name: "A6 NUL suffix alone", policy: catchAll, args: `{"path\u0000":"evil"}`, want: "deny ambiguous_key", upto: `{"path\u0000"`},
		{name: "A6 NUL in another name", policy: catchAll, args: `{"x\u0000":"evil"}`, want: "ask unknown_parameter", upto: `{"x\u0000"`},
		{name: "A7 lone surrogate", policy: catchAll, args: `{"path":"src/\ud800a"}`, want: "deny malformed_arguments", upto: `{"path":"src/\ud800a`},
		{name: "A8 invalid UTF-8", policy: catchAll, args: "{\"path\":\"src/\xff\"}", want: "deny malformed_arguments", upto: "{\"path\":\"src/\xff"},
		{name: "A9 overlong", policy: catchAll, args: "{\"path\":\"src/\xc0\xae\"}", want: "deny malformed_arguments", upto: "{\"path\":\"src/\xc0"},
		{name: "A9 surrogate in UTF-8", policy: catchAll, args: "{\"path\":\"src/\xed\xa0\x80\"}", want: "deny malformed_arguments", upto: "{\"path\":\"src/\xed\xa0"},
		{name: "A10 byte order mark", policy: catchAll, args: "\xef\xbb\xbf{}", want: "deny malformed_arguments", upto: "\xef"},
		{name: "A11 NUL in a path", policy: catchAll,
			args: `{"path":"src/a\u0000.env"}`, want: "ask control_character", upto: `{"path":"src/a\u0000`, pointer: "/path"},
		{name: "A11 no grant", policy: srcOnly,
			args: `{"path":"src/a\u0000.env"}`, want: "ask rule_matched rule 1", upto: `{"path":"src/a\u0000`},
		{name: "A11 restriction sees the part before the NUL", policy: rules(`arg = "/path", const = ".env", mode = "deny"`, `mode = "unattended"`),
			args: `{"path":".env\u0000.txt"}`, want: "deny rule_matched rule 0", upto: `{"path":".env\u0000.txt"`},
		{name: "A11 DEL and C1", policy: catchAll, args: "{\"path\":\"a\u009b\"}", want: "ask control_character", upto: "{\"path\":\"a\u009b"},
		{name: "A12 second value", policy: srcOnly, args: `{"path":"src/a"} {"path":".env"}`, want: "deny trailing_data", upto: `{"path":"src/a"} {`},
		{name: "A12 second brace", policy: srcOnly, args: `{"path":"src/a"}}`, want: "deny trailing_data"},
		{name: "A12 comment", policy: srcOnly, args: `{"path":"src/a"}//x`, want: "deny trailing_data", upto: `{"path":"src/a"}/`},
		{name: "A13 truncated", policy: catchAll, args: `{"path":"src/a`, want: "deny truncated_arguments"},
		{name: "A13 stream cut", policy: catchAll, args: `{"path":"src/a"}`, end: stopgate.Truncated, want: "deny stream_truncated"},
		{name: "A14 empty", policy: catchAll, args: ``, want: "deny malformed_arguments", upto: nothing},
		{name: "A14 white space", policy: catchAll, args: "  \n", want: "deny malformed_arguments"},
		{name: "A15 string", policy: catchAll, args: `"src/a"`, want: "deny non_object_root", upto: `"`},
		{name: "A15 array", policy: catchAll, args: `[{"path":"src/a"}]`, want: "deny non_object_root", upto: `[`},
		{name: "A15 null", policy: catchAll, args: `null`, want: "deny non_object_root", upto: `n`},
		{name: "A16 encoded twice", policy: catchAll, args: `"{\"path\":\".env\"}"`, want: "deny non_object_root", upto: `"`},
		{name: "A17 deep nesting", policy: catchAll, args: `{"patterns":` + strings.Repeat("[", 1000), want: "deny limit_exceeded",
			upto: `{"patterns":` + strings.Repeat("[", 128)},
		{name: "A19 number above the maximum", policy: rules(`arg = "/n", maximum = 9007199254740992, mode = "unattended"`),
			args: `{"n":9007199254740993}`, want: "ask no_rule_matched", upto: `{"n":9007199254740993}`},
		{name: "A20 equal numbers", policy: rules(`arg = "/n", const = 1, mode = "unattended"`), args: `{"n":1.0}`, want: "unattended rule_matched rule 0"},
		{name: "A20 exponent", policy: rules(`arg = "/n", enum = [10, 0], mode = "unattended"`), args: `{"n":1e1}`, want: "unattended rule_matched rule 0"},
		{name: "A20 minus zero", policy: rules(`arg = "/n", enum = [10, 0], mode = "unattended"`), args: `{"n":-0}`, want: "unattended rule_matched rule 0"},
		{name: "A21 exponent", policy: rules(`arg = "/n", maximum = 5, mode = "unattended"`, `mode = "ask"`),
			args: `{"n":1e400}`, want: "ask rule_matched rule 1", upto: `{"n":1e400}`},
		{name: "A21 exponent bomb", policy: catchAll, args: `{"n":1e-999999999}`, want: "deny limit_exceeded", upto: `{"n":1e-9999999`},
		{name: "A22 NaN", policy: catchAll, args: `{"n":NaN}`, want: "deny malformed_arguments", upto: `{"n":N`},
		{name: "A22 leading zero", policy: catchAll, args: `{"n":012}`, want: "deny malformed_arguments", upto: `{"n":01`},
		{name: "A23 comment", policy: catchAll, args: `{"path":"src/a",/*x*/"n":1}`, want: "deny malformed_arguments", upto: `{"path":"src/a",/`},
		{name: "A23 trailing comma", policy: catchAll, args: `{"n":1,}`, want: "deny malformed_arguments"},
		{name: "A24 raw newline", policy: catchAll, args: "{\"path\":\"src/\n\"}", want: "deny malformed_arguments", upto: "{\"path\":\"src/\n"},
		{name: "A25 normal forms", policy: task, args: "{\"caf\u00e9\":\"a\",\"cafe\u0301\":\"b\"}", want: "deny ambiguous_key", upto: "{\"caf\u00e9\":\"a\",\"cafe\u0301\""},
		{name: "A26 magic key", policy: catchAll, args: `{"__proto__":{"path":".env"}}`, want: "ask unknown_parameter", upto: `{"__proto__"`},
		{name: "A26 closed schema", policy: "version = 1\n[tools.fs_modify_file.policy]\nrun = \"unattended\"\n", definition: closed,
			args: `{"__proto__":{"path":".env"}}`, want: "deny schema_violation"},
	})
}

// Proves A14, K50: an empty text means no arguments only if the dialect defines that and the tool
// needs none, and is then released as {}.
func TestA14EmptyMeansNone(t *testing.T) {
	for _, c := range []struct {
		name, schema, args, want, release string
		means                             bool
	}{
		{"documented", `{"type":"object","properties":{"x":{"type":"string"}}}`, "", "unattended rule_matched rule 0", "{}", true},
		{"white space", `{"type":"object"}`, " \n", "unattended rule_matched rule 0", "{}", true},
		{"no schema", ``, "", "unattended rule_matched rule 0", "{}", true},
		{"needs one", `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`, "", "deny malformed_arguments", "", true},
		{"not documented", `{"type":"object"}`, "", "deny malformed_arguments", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, "version = 1\n[tools.t.policy]\nrun = \"unattended\"\n")
			b := p.Bind(stopgate.Call{Tool: "t", Definition: &stopgate.ToolDefinition{Name: "t", Schema: []byte(c.schema), EmptyMeansNone: c.means}})
			e := b.Evaluate()
			e.Feed([]byte(c.args))
			if got := brief(e.Close(stopgate.Ended)); got != c.want || string(e.Args()) != c.release {
				t.Fatalf("%s releases %q, want %s and %q", got, e.Args(), c.want, c.release)
			}
		})
	}
}

// Proves A18: arguments that exceed a limit are refused at the byte that exceeds it, and the
// evaluator stores no more than the limit.
func TestA18Limits(t *testing.T) {
	b := compile(t, rules(`mode = "unattended"`)).Bind(stopgate.Call{Tool: "fs_modify_file"})
	for _, c := range []struct {
		name string
		feed func(e *eval.Evaluation) stopgate.Verdict
		at   int64
	}{
		{"many bytes", func(e *eval.Evaluation) stopgate.Verdict {
			e.Feed([]byte(`{"content":"`))
			chunk := []byte(strings.Repeat("a", 1<<20))
			for range 17 {
				e.Feed(chunk)
			}
			return e.Close(stopgate.Ended)
		}, 16<<20 + 1},
		{"many keys", func(e *eval.Evaluation) stopgate.Verdict {
			e.Feed([]byte(`{"patterns":[{`))
			for i := range 20_000 {
				e.Feed([]byte(`"` + strings.Repeat("k", 1+i%7) + string(rune('a'+i/3000)) + strings.Repeat("x", i%1000) + `":0,`))
			}
			return e.Close(stopgate.Ended)
		}, -1},
		{"a long key", func(e *eval.Evaluation) stopgate.Verdict {
			e.Feed([]byte(`{"` + strings.Repeat("k", 2000)))
			return e.Close(stopgate.Ended)
		}, 2 + 1024 + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := c.feed(b.Evaluate())
			if v.Mode != stopgate.Deny || v.Layer != stopgate.LayerIntegrity || c.at >= 0 && (v.Code != stopgate.CodeLimitExceeded || v.DecidedAt != c.at) {
				t.Fatalf("%s", spell(v))
			}
		})
	}
}
