package stopgate_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stopgate/stopgate"
)

// Proves K6, X1: the zero value of everything that can carry a permission is the
// refusal.
func TestZeroValuesDeny(t *testing.T) {
	var mode stopgate.Mode
	if mode != stopgate.Deny || mode.Permissive() || !mode.Terminal() || mode.String() != "deny" {
		t.Errorf("the zero mode is %s", mode)
	}
	var v stopgate.Verdict
	if v.Decided || v.Mode != stopgate.Deny || v.Terminal() || v.String() != "waiting" {
		t.Errorf("the zero verdict is %v", v)
	}
	var o stopgate.Outcome
	if o.Allowed() || o.Status != stopgate.Denied || o.Enforced || o.Envelope().Status != "denied" {
		t.Errorf("the zero outcome is %+v", o)
	}
	var e stopgate.End
	if e != stopgate.Failed || e.String() != "failed" {
		t.Errorf("the zero end is %s", e)
	}
	var k stopgate.EventKind
	if k == stopgate.CallStarted || k == stopgate.CallEnded || k == stopgate.TurnEnded {
		t.Error("the zero event means something")
	}
}

// Proves K6: unattended < ask < edit < skip < deny, and what is no mode
// counts as deny.
func TestModes(t *testing.T) {
	order := []stopgate.Mode{stopgate.Unattended, stopgate.Ask, stopgate.Edit, stopgate.Skip, stopgate.Deny} // weakest first
	names := []string{"unattended", "ask", "edit", "skip", "deny"}
	for i, a := range order {
		if a.String() != names[i] {
			t.Errorf("mode %d is spelled %s", i, a)
		}
		if m, err := stopgate.ParseMode(names[i]); err != nil || m != a {
			t.Errorf("%s reads as %s, %v", names[i], m, err)
		}
		text, err := json.Marshal(a)
		if err != nil || string(text) != strconv.Quote(names[i]) {
			t.Errorf("%s writes as %s, %v", a, text, err)
		}
		var back stopgate.Mode
		if err := json.Unmarshal(text, &back); err != nil || back != a {
			t.Errorf("%s reads back as %s, %v", text, back, err)
		}
		if a.Permissive() != (i == 0) || a.Terminal() != (i >= 3) {
			t.Errorf("%s: permissive %v, terminal %v", a, a.Permissive(), a.Terminal())
		}
		for j, b := range order {
			if got := stopgate.Strictest(a, b); got != order[max(i, j)] {
				t.Errorf("strictest of %s and %s is %s", a, b, got)
			}
		}
	}
	for _, s := range []string{"", "Deny", "allow", "unattended ", "5"} {
		m := stopgate.Unattended
		if err := m.UnmarshalText([]byte(s)); err == nil || m != stopgate.Deny {
			t.Errorf("%q reads as %s, %v", s, m, err)
		}
	}
	if m := stopgate.Mode(99); m.String() != "deny" || m.Permissive() || !m.Terminal() {
		t.Errorf("mode 99: %s, permissive %v, terminal %v", m, m.Permissive(), m.Terminal())
	}
}

// Proves G1, F6: the only form of a tool name.
func TestValidToolName(t *testing.T) {
	for name, want := range map[string]bool{
		"fs_read_file": true, "mcp__github__x": true, "A-Z.a:9": true, "x": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "fs read": false, "fs/read": false, "fs\x00read": false, "fs_réad": false,
		"fs_read\n": false, "ｆs_read": false, "fs_read\u200b": false, "a@b": false, "*": false, "\"": false, "fs_read\xff": false,
	} {
		if got := stopgate.ValidToolName(stopgate.ToolName(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	for b := range 256 { // byte by byte, against the definition
		c := rune(b)
		want := b < 128 && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_.:-", c))
		if got := stopgate.ValidToolName(stopgate.ToolName([]byte{byte(b)})); got != want {
			t.Errorf("byte %#x: %v", b, got)
		}
	}
}

// threatCodes is the table of stable codes (with
// protected_target of K2), and the public text of each; "" where the
// table has none. Texts with names in them have a form without.
var threatCodes = map[string]string{
	"malformed_arguments": "The arguments are not valid JSON.",
	"duplicate_key":       "An object in the arguments contains the same key twice.",
	"ambiguous_key":       "Two keys in the arguments can be read as the same parameter.",
	"trailing_data":       "There is data after the end of the arguments.",
	"truncated_arguments": "The arguments end before they are complete.",
	"non_object_root":     "The arguments must be one JSON object.",
	"limit_exceeded":      "The call exceeds a size or depth limit.",
	"schema_violation":    "The arguments do not fit the tool's schema.",
	"protocol_violation":  "The message that carries the call breaks the protocol.",
	"envelope_mismatch":   "The message carries different versions of the same call.",
	"stream_truncated":    "The model's answer ended before the call was complete.",

	"policy_not_configured":     "No policy covers this tool.",
	"policy_invalid_for_schema": "The policy for this tool does not fit the tool's current schema.",
	"no_rule_matched":           "No rule covers these arguments; a person must decide.",
	"rule_matched":              "A rule of the policy decided this call.",
	"rule_skipped":              "The call was not run because a rule skips it.",
	"unknown_parameter":         "The call uses a parameter the tool does not declare.",
	"control_character":         "A value contains a control character.",
	"protected_target":          "The call touches, or may touch, a protected file.",
	"path_not_known":            "It is not known which file a path names; a person must decide.",
	"parameter_not_covered":     "",
	"guarded_below":             "The command reads or renames whole directories in which files may be guarded; a person must decide.",
	"patch_not_readable":        "The patch cannot be read with certainty; a person must decide.",
	"command_not_analysable":    "The command uses shell features that cannot be checked; write it as plain commands.",
	"prerequisite_missing":      "Another call must have succeeded first.",
	"prerequisite_pending":      "The required call is in the same turn; wait for its result, then repeat this call.",
	"read_required":             "Read this target before changing it.",
	"key_unavailable":           "The call does not name the target that its session policy needs.",
	"session_policy_denied":     "A session policy does not allow this call now.",
	"handoff_already_taken":     "Only one handoff is possible in a turn.",
	"judge_denied":              "A safety review did not accept this call.",
	"server_tool_not_allowed":   "This tool runs at the provider and is not allowed.",
	"background_not_supported":  "Background responses are not allowed here.",
	"result_withheld":           "The call ran; its result is withheld by policy.",
	"denial_limit":              "Too many calls were denied; stop and ask the user.",
	"lockdown":                  "Everything is denied until an operator lifts the lockdown.", // S59
	"policy_dropped":            "A policy of this gateway removed the call.",                 // V3-18
	"request_rejected":          "A policy of this gateway does not allow the request.",       // V3-11

	"no_approver":       "This call needs an approval and nobody can give one here; ask the user.",
	"approval_pending":  "An approval is pending; repeat the identical call later.",
	"approval_declined": "The approver declined this call.",
	"approval_timeout":  "Nobody approved this call in time.",
	"approval_stale":    "The approval does not belong to this call any more.",
	"client_gone":       "The client went away before the call was decided.",

	"policy_error":            "The policy failed while it looked at this call.",
	"policy_timeout":          "The policy did not decide in time.",
	"invalid_policy_result":   "The policy gave an invalid answer.",
	"judge_unavailable":       "The safety review could not be completed.",
	"store_unavailable":       "The session's state cannot be read now.",
	"session_degraded":        "The session's state is uncertain; an operator must reconcile it.",
	"audit_unavailable":       "The decision cannot be recorded now.",
	"tool_unreachable":        "The tool's server does not answer.",
	"tool_definition_changed": "The tool has changed since it was accepted; a person must accept it again: 'stopgate mcp pin list --changed' shows it.",
	"upstream_error":          "The model provider answered with an error.",
	"upstream_timeout":        "The model provider did not answer in time.",
	"overloaded":              "The gate is at its limit; try again later.",
	"snapshot_rejected":       "The saved state was not accepted.",

	"unauthenticated": "Authentication is missing or failed.",
	"origin_rejected": "This origin or host is not allowed.",
	"route_unknown":   "This route is not served.",

	"origin_unknown": "It is not known where a value comes from, because this host does not report all texts of the conversation.",
	"origin_budget":  "It is not known where a value comes from: the session has more text than the gate keeps.",
	"untrusted_text": "Text that anybody may have written was read before this call.",

	"not_evaluated": "", "unmatched_result": "", "matcher_budget": "A value is too long to be examined; send it in smaller parts.", "cancelled": "The call was cancelled before it was decided.",
	"executed_state_unknown": "", "config_invalid": "", "config_reload_rejected": "",
}

// Proves G2-15, Q21: every stable code exists with its public text, and no other.
func TestCodesAreTheStableOnes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Code" {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil || declared[code] {
				t.Errorf("code %s: %v, declared twice %v", code, err, declared[code])
			}
			// The name is the code in camel case.
			name := "Code"
			for word := range strings.SplitSeq(code, "_") {
				name += strings.ToUpper(word[:1]) + word[1:]
			}
			if spec.Names[0].Name != name {
				t.Errorf("code %s is named %s", code, spec.Names[0].Name)
			}
			declared[code] = true
		}
		return true
	})
	var missing, unknown []string
	for code, text := range threatCodes {
		if !declared[code] {
			missing = append(missing, code)
		}
		if got := stopgate.Code(code).Public(); text != "" && got != text {
			t.Errorf("%s says %q, want %q", code, got, text)
		}
		if !stopgate.Code(code).Valid() {
			t.Errorf("%s has not the form of a code", code)
		}
	}
	for code := range declared {
		if _, ok := threatCodes[code]; !ok {
			unknown = append(unknown, code)
		}
	}
	sort.Strings(missing)
	sort.Strings(unknown)
	if len(missing)+len(unknown) > 0 {
		t.Errorf("missing codes %v, codes of no table %v", missing, unknown)
	}
}

// Proves Q21, H17: a public text is one sentence of plain text.
func TestPublicTexts(t *testing.T) {
	for code := range threatCodes {
		text := stopgate.Code(code).Public()
		if text == "" || !strings.HasSuffix(text, ".") || strings.Count(text, ".") != 1 || strings.ContainsAny(text, "{}<>\n`") || len(text) > 120 {
			t.Errorf("%s: %q", code, text)
		}
	}
	if got := stopgate.Code("my_own_reason").Public(); got != "A policy does not allow this call." {
		t.Errorf("a policy's own code says %q", got)
	}
}

// Proves G2-04: the form of a code of one's own.
func TestCodeForm(t *testing.T) {
	for code, want := range map[string]bool{
		"a": true, "no_friday_deploys": true, "code_7": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "No": false, "a-b": false, "a b": false, "é": false, "a\n": false, "`": false, "{": false, "/": false, ":": false,
	} {
		if got := stopgate.Code(code).Valid(); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}

// Proves G2-15, S10: the envelope has four members in this order, data null.
func TestEnvelope(t *testing.T) {
	for _, c := range []struct {
		out  stopgate.Outcome
		want string
	}{
		{stopgate.Outcome{Verdict: stopgate.Verdict{Code: stopgate.CodeNoApprover}},
			`{"status":"denied","code":"no_approver","publicReason":"This call needs an approval and nobody can give one here; ask the user.","data":null}`},
		{stopgate.Outcome{Status: stopgate.Skipped, Verdict: stopgate.Verdict{Code: stopgate.CodeRuleSkipped, Public: "Not on Fridays."}},
			`{"status":"denied","code":"rule_skipped","publicReason":"Not on Fridays.","data":null}`},
		{stopgate.Outcome{Status: stopgate.Allowed, Verdict: stopgate.Verdict{Code: stopgate.CodeRuleMatched}},
			`{"status":"ok","code":null,"publicReason":null,"data":null}`},
	} {
		if got, err := json.Marshal(c.out.Envelope()); err != nil || string(got) != c.want {
			t.Errorf("got %s, %v\nwant %s", got, err, c.want)
		}
	}
}

// Names for records and logs.
func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		stopgate.Allowed.String(): "allowed", stopgate.Denied.String(): "denied", stopgate.Skipped.String(): "skipped", stopgate.Status(9).String(): "denied",
		stopgate.Ended.String(): "ended", stopgate.Truncated.String(): "truncated", stopgate.Cancelled.String(): "cancelled", stopgate.End(9).String(): "failed",
		stopgate.Verdict{Decided: true, Mode: stopgate.Ask, Code: "x", DecidedAt: 7}.String(): "ask x at 7",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if !(stopgate.Verdict{Decided: true, Mode: stopgate.Skip}).Terminal() || (stopgate.Verdict{Decided: true, Mode: stopgate.Edit}).Terminal() {
		t.Error("skip is terminal, edit is not")
	}
}

// Proves S25: a row's members are written in the order of the format, and nothing
// that is absent is written.
func TestRecordMembers(t *testing.T) {
	order := []string{
		"v", "seq", "chain", "gate", "time", "kind", "event", "id", "parent", "session", "principal", "groups", "surface", "dialect", "agent", "turn", "tool",
		"call_id", "handoff", "args_hash", "args_bytes", "released_hash", "status", "mode", "layer", "code", "cause", "rule", "candidates", "pointer", "segment",
		"decided_at", "floors", "objections", "origins", "judge", "external", "approval", "texts", "policy", "unversioned", "bundle", "definition", "path_resolution", "context", "enforced", "count", "usage", "checkpoint",
		"prev", "hash",
	}
	var row stopgate.Record
	fill(reflect.ValueOf(&row).Elem())
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if got := members(t, text); !reflect.DeepEqual(got, order) {
		t.Errorf("members\n got %v\nwant %v", got, order)
	}
	text, err = json.Marshal(stopgate.Record{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := members(t, text), []string{"v", "seq", "time", "kind", "prev", "hash"}; !reflect.DeepEqual(got, want) {
		t.Errorf("an empty row has %v", got)
	}
	var back stopgate.Record
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, stopgate.Record{}) {
		t.Errorf("reads back as %+v, %v", back, err)
	}
}

// Proves S25: the reference names every member, status and event of a row.
func TestTheReferenceOfRecordsIsComplete(t *testing.T) {
	reference, err := os.ReadFile("docs/reference/records.md")
	if err != nil {
		t.Fatal(err)
	}
	var row stopgate.Record
	fill(reflect.ValueOf(&row).Elem())
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	words := members(t, text)
	file, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && (id.Name == "RecordStatus" || id.Name == "AuditEvent" || id.Name == "RecordKind") {
			word, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			words = append(words, word)
		}
		return true
	})
	if len(words) < 55 {
		t.Errorf("only %d words were looked for", len(words))
	}
	for _, word := range words {
		if !strings.Contains(string(reference), "`"+word+"`") {
			t.Errorf("docs/reference/records.md does not say what %q is", word)
		}
	}
}

// members lists the names at the top level of an object, in order.
func members(t *testing.T, text []byte) (names []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.Token()
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
	}
	return names
}

// fill sets every field to something that is written.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + rand.Int64N(9))
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		if v.Type() == reflect.TypeFor[stopgate.Groups]() {
			groups, _ := stopgate.GroupsOf("x")
			v.Set(reflect.ValueOf(groups))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}
