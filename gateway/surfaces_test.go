package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// sequenced is the policy of all surfaces: a decision depends on the earlier calls.
const sequenced = allowAll + `
[tools.read.parameters]
path = { type = "string" }
[tools.write.parameters]
path = { type = "string" }
[tools.deploy.policy]
run = "unattended"
[tools.erase.policy]
run = [ { arg = "/path", const = "/", mode = "deny" }, { mode = "unattended" } ]
[tools.erase.parameters]
path = { type = "string" }
[tools.move.parameters]
path = { type = "string" }
[tools.move.policy]
run = [
  { arg = "/path", const = "nowhere", mode = "deny" },
  { arg = "/path", prefix = "ask", mode = "ask" },
  { mode = "unattended" },
]
[tools.publish.parameters]
path = { type = "string" }
[tools.publish.policy]
run = "unattended"
[tools.test]
success = { pattern = "^PASS" }
[tools.read]
success = { pattern = "^OK" }
[tools.pay]
success = { pattern = "^PAID" }
[[session]]
type = "require"
before = ["deploy"]
requires = ["test"]
invalidated_by = ["write"]
[[session]]
type = "read_before_write"
read_tools = ["read"]
write_tools = ["write"]
key = "/path"
[[session]]
type = "require"
mode = "ask"
before = ["publish"]
requires = ["test"]
[[session]]
type = "limit"
tools = ["pay"]
max_calls = 2
scope = "session"
`

// step is one call of a sequence, and its result if it runs.
type step struct {
	tool, args, result string
	failed             bool // the surface marks the result as failed, if it can
}

// sequence is a test case: the calls of each turn, and the code of each call. Every surface must
// give the same codes and sentences. If it cannot, differs has its own codes with the reason.
type sequence struct {
	name    string
	turns   [][]step
	want    []string
	differs map[string]difference // by surface
}

// wantOn returns the codes on a surface.
func (row *sequence) wantOn(surface string) []string {
	for name, d := range row.differs {
		if strings.HasPrefix(surface, name) {
			return d.want
		}
	}
	return row.want
}

type difference struct {
	want   []string
	reason string
}

var (
	test     = step{tool: "test", args: `{}`, result: "PASS"}
	deploy   = step{tool: "deploy", args: `{}`, result: "done"}
	readA    = step{tool: "read", args: `{"path":"a"}`, result: "OK"}
	writeA   = step{tool: "write", args: `{"path":"a"}`, result: "OK"}
	writeB   = step{tool: "write", args: `{"path":"b"}`, result: "OK"}
	pay      = step{tool: "pay", args: `{}`, result: "PAID"}
	erase    = step{tool: "erase", args: `{"path":"/"}`, result: "done"}
	moveTo   = step{tool: "move", args: `{"path":"ask"}`, result: "done"}
	moveAway = step{tool: "move", args: `{"path":"ask no more"}`, result: "done"}
	publish  = step{tool: "publish", args: `{"path":"site"}`, result: "done"}
	refuse   = step{tool: "publish", args: refused, result: "done"}
	testFail = step{tool: "test", args: `{}`, result: "FAIL"}
	testMark = step{tool: "test", args: `{}`, result: "PASS", failed: true}
)

const (
	allowed = "allowed"
	unmade  = "no row"
	pending = string(stopgate.CodePrerequisitePending)
	missing = string(stopgate.CodePrerequisiteMissing)
	unread  = string(stopgate.CodeReadRequired)
	spent   = string(stopgate.CodeSessionPolicyDenied)
)

var sequences = []sequence{
	{name: "a prerequisite is missing", turns: [][]step{{deploy}}, want: []string{missing}},
	{name: "a prerequisite succeeded in an earlier turn", turns: [][]step{{test}, {deploy}}, want: []string{allowed, allowed}},
	{name: "a prerequisite is called in the same turn", turns: [][]step{{test, deploy}}, want: []string{allowed, pending}},
	{name: "the turn after it", turns: [][]step{{test, deploy}, {deploy}}, want: []string{allowed, pending, allowed}},
	{name: "a prerequisite is called later in the same turn", turns: [][]step{{deploy, test}}, want: []string{missing, allowed}, differs: map[string]difference{
		"agent": {[]string{missing, unmade}, "the model is stopped at a denial with no call before it (D26-22): it never makes the second call"},
	}},
	{name: "the text of a result tells that it failed", turns: [][]step{{testFail}, {deploy}}, want: []string{allowed, missing}},
	{name: "a result is marked as failed", turns: [][]step{{testMark}, {deploy}}, want: []string{allowed, missing}, differs: map[string]difference{
		"chat":      {[]string{allowed, allowed}, "the dialect has no mark (S24): the pattern decides"},
		"responses": {[]string{allowed, allowed}, "the dialect has no mark (S24): the pattern decides"},
	}},
	{name: "another write takes the success back", turns: [][]step{{test}, {readA}, {writeA}, {deploy}}, want: []string{allowed, allowed, allowed, missing}},
	{name: "a file is written without being read", turns: [][]step{{writeA}}, want: []string{unread}},
	{name: "a file is written after it was read", turns: [][]step{{readA}, {writeA}}, want: []string{allowed, allowed}},
	{name: "a file is read and written in the same turn", turns: [][]step{{readA, writeA}}, want: []string{allowed, pending}},
	{name: "another file is read in the same turn", turns: [][]step{{readA, writeB}}, want: []string{allowed, unread}},
	{name: "a denied call is no prerequisite", turns: [][]step{{erase, deploy}}, want: []string{string(stopgate.CodeRuleMatched), missing}, differs: map[string]difference{
		"agent": {[]string{string(stopgate.CodeRuleMatched), unmade}, "the model is stopped at a denial with no call before it (D26-22): it never makes the second call"},
	}},
	{name: "a person edits a call", turns: [][]step{{moveTo}}, want: []string{allowed}, differs: map[string]difference{
		"hook": {[]string{allowed}, "the host asks its own user, who cannot edit (S32)"},
	}},
	{name: "a person edits a call into one that is denied", turns: [][]step{{moveAway}}, want: []string{string(stopgate.CodeRuleMatched)}, differs: map[string]difference{
		"hook": {[]string{allowed}, "the host asks its own user, who cannot edit (S32)"},
	}},
	{name: "a policy asks, and a person allows the call", turns: [][]step{{publish}}, want: []string{allowed}},
	{name: "a policy asks, and a person refuses the call", turns: [][]step{{refuse}}, want: []string{string(stopgate.CodeApprovalDeclined)}},
	{name: "a policy that asks is satisfied", turns: [][]step{{test}, {refuse}}, want: []string{allowed, allowed}},
	{name: "a limit is reached within a turn", turns: [][]step{{pay, pay, pay}}, want: []string{allowed, allowed, spent}},
	{name: "a limit is reached in a later turn", turns: [][]step{{pay}, {pay}, {pay}}, want: []string{allowed, allowed, spent}},
}

// surface plays a sequence on one surface. It returns the messages for the model or the client, one
// text for each turn.
type surface struct {
	name string
	play func(t *testing.T, w world, turns [][]step) []string
}

// The same sequence of calls gets the same codes and the same sentences on every surface.
func TestSurfacesAgree(t *testing.T) {
	for _, row := range sequences {
		t.Run(row.name, func(t *testing.T) {
			for _, s := range surfaces() {
				t.Run(s.name, func(t *testing.T) {
					rows := new(ports.Recorder)
					told := s.play(t, world{rows: rows, store: mem.New()}, row.turns)
					want := row.wantOn(s.name)
					if got := codesOf(rows, row.turns); !slices.Equal(got, want) {
						t.Fatalf("got %q, want %q", got, want)
					}
					n := 0
					for i, turn := range row.turns {
						for range turn {
							if code := want[n]; code != allowed && code != unmade && !strings.Contains(told[i], code) {
								t.Errorf("turn %d does not name %s: %s", i+1, code, told[i])
							}
							n++
						}
						if sentence := sentences[row.name]; sentence != "" && i == len(row.turns)-1 && !strings.Contains(told[i], strings.TrimSuffix(sentence, ".")) {
							t.Errorf("turn %d lacks %q: %s", i+1, sentence, told[i])
						}
					}
				})
			}
		})
	}
}

// sentences are the texts for the model of a denial in the last turn, by the name of the case.
var sentences = map[string]string{
	"a prerequisite is missing":                   "Call test first; it must have succeeded.",
	"a file is written without being read":        "Read this file first, with read.",
	"another file is read in the same turn":       "Read this file first, with read.",
	"the text of a result tells that it failed":   "Call test first; it must have succeeded.",
	"a prerequisite is called in the same turn":   stopgate.CodePrerequisitePending.Public(),
	"a file is read and written in the same turn": stopgate.CodePrerequisitePending.Public(),
}

// codesOf returns the code of each call in the order of the sequence. Rows may be written in
// another order: a denial is decided before the release of an earlier call.
func codesOf(rows *ports.Recorder, turns [][]step) (codes []string) {
	var left []stopgate.Record
	for _, r := range rows.Rows() {
		if r.Kind == stopgate.RecordDecision && r.Status != stopgate.StatusEdited { // the row of the edited call follows
			left = append(left, r)
		}
	}
	n := 0
	for _, turn := range turns {
		end := min(n+len(turn), len(left))
		mine := slices.Clone(left[n:end])
		n = end
		for _, s := range turn {
			at := slices.IndexFunc(mine, func(r stopgate.Record) bool { return string(r.Tool) == s.tool })
			switch {
			case at < 0:
				codes = append(codes, unmade)
				continue
			case mine[at].Status == stopgate.StatusAllowed:
				codes = append(codes, allowed)
			default:
				codes = append(codes, string(mine[at].Code))
			}
			mine = slices.Delete(mine, at, at+1)
		}
	}
	if n < len(left) {
		codes = append(codes, fmt.Sprint(len(left)-n, " rows too many"))
	}
	return codes
}
