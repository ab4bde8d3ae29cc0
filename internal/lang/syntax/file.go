package syntax

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// File is one parsed policy file: the language's tables as a tree with
// positions, aliases already desugared (D25-02, D25-06).
type File struct {
	Name     string
	Gate     GateSettings
	Paths    PathSettings
	Lists    []*NamedList     // [lists], file order
	Tools    []*ToolTable     // file order
	Guards   []*Rule          // [[guard]], file order: restrictive rules for every tool (K0a)
	Sessions []*SessionPolicy // [[session]], file order
	Handoffs []*Handoff       // [[handoffs]], file order
	Judge    *Judge           // [judge], nil without one
	// Tables are the operational tables ([gateway], [upstream], [audit], ...) by
	// name; their owners decode them with [tomltree.Decode].
	Tables map[string]*tomltree.Value

	source *tomltree.Document
	broken bool // Parse reported errors
}

// GateSettings is the table [gate]. The zero value is the strictest one.
type GateSettings struct {
	UnknownTool       stopgate.Mode // deny, or ask with unknown_tool = "ask"
	UnknownParams     ParamAction   // default for tools that do not say
	Uncovered         ParamAction   // parameters that a permit does not cover
	OnSchemaViolation stopgate.Mode // deny or ask
	DenyMode          string        // "", "tool_result" or "throw" (K33)
	Enforcement       string        // "", "enforce" or "observe" (K38)
	Strict            bool          // lints are errors (K0i)
	// DenialLimit is after how many denials in a row a session is stopped (S28); nil
	// if the file does not say, 0 for never.
	DenialLimit *int64
	// StructuredOutput is what becomes of a call that is recognised as the form of the
	// model's answer: Unattended lets it pass, everything else leaves it to the rules.
	StructuredOutput stopgate.Mode

	written *tomltree.Value // nil: the file has no [gate]
}

// PathSettings is the table [paths]: inputs of matching, never read from the
// machine by this package (K19).
type PathSettings struct {
	Root string
	Home string
}

// NamedList is one entry of [lists] (K60). Rules hold its values already.
type NamedList struct {
	Name   string
	Values []match.Literal
	Pos    diag.Range

	values []*tomltree.Value
}

// ParamAction says what an undeclared parameter does (K24).
type ParamAction uint8

// The zero value asks.
const (
	ParamAsk ParamAction = iota
	ParamDeny
	ParamAllow
)

// ToolTable is one [tools.NAME] table; NAME may be a glob or "*" (K0b).
type ToolTable struct {
	Name      string
	Also      []string       // further names of the same tool (S39)
	Source    string         // who runs the tool; no meaning for verdicts (K0f)
	Command   []string       // of a local tool: the program and its arguments
	About     string         // summary and description, for models
	Schema    *schema.Schema // from parameters; nil if the table declares none
	Run       *RuleList      // nil: nothing said here
	Result    *RuleList
	Success   *Success       // how results are read; nil: nothing said here (S24)
	Unknown   *ParamAction   // unknown_params of the tool
	Uncovered *ParamAction   // uncovered of the tool
	OnSchema  *stopgate.Mode // on_schema_violation of the tool
	Pos       diag.Range     // of the name

	also []*tomltree.Value
}

// RuleList is an ordered list of rules; first match wins (D25-09).
type RuleList struct {
	Rules []*Rule
	Alias bool       // written as a string: run = "ask"
	Pos   diag.Range // of the value, or of its first [[header]]

	Incomplete bool // rules are missing because of mistakes
}

// Quantifier says how many leaves at a pointer have to match.
type Quantifier uint8

// QuantifierDefault is any for restrictive rules and all for unattended ones.
const (
	QuantifierDefault Quantifier = iota
	QuantifierAny
	QuantifierAll
)

// Rule is one rule of a list or one guard.
type Rule struct {
	Index             int // 0-based position in its list
	ID                stopgate.RuleID
	Conditions        []Condition // none: catch-all; several: all = [...]
	Compound          bool        // written with all = [...]
	Mode              stopgate.Mode
	Match             Quantifier
	Reason            string // public text (K37)
	Note              string // internal
	When              *When
	AllowUnsafePrefix bool                 // Q3
	Ignores           []jsonstream.Pointer // K1
	Examples          []Example            // K36
	Pos               diag.Range

	IgnoresPos          []diag.Range // of each of Ignores
	MatchPos, OptOutPos diag.Range   // of match and allow_unsafe_prefix; zero where not written

	parsed string // Meaning, as the file was parsed
}

// Condition is one matcher on one pointer, or on every parameter of a type.
type Condition struct {
	Arg              jsonstream.Pointer
	On               string // guards: "path", "command", "url" or "string" instead of Arg
	IgnoreBelow      bool   // guards on paths: what a command reads without naming it is nothing to them
	Match            Quantifier
	Spec             match.Spec
	Pos              diag.Range // of the whole condition
	ArgPos, ValuePos diag.Range

	arg    *tomltree.Value
	values []*tomltree.Value // of Spec.Values, where each is written
}

// When restricts a rule or guard to calls with these constant facts; they are
// resolved at Open (K0c, K60). Each non-empty list means "one of"; entries may be globs.
type When struct {
	Agent, Surface, Server, Principal []string
	// Session is a condition on the session's data, nil for none.
	Session *SessionCondition
	Pos     diag.Range

	// SessionKey is equal for two conditions on the session that say the same, in rules of
	// which both permit or both restrict; "" without one.
	SessionKey string
}

// Example is a call that its author says a rule matches, or does not match. It is
// checked when the file is read and means nothing afterwards.
type Example struct {
	Matches bool
	// Value is the arguments of a call, or, for a rule with one condition, one value
	// for its argument.
	Value match.Literal
	Pos   diag.Range
}

// ListKind tells the three places apart where rules stand.
type ListKind uint8

// A table [tools.NAME] has rules for calls and rules for their results (K32); guards
// stand beside the tables.
const (
	RunList ListKind = iota
	ResultList
	GuardList
)

// String names the list.
func (k ListKind) String() string {
	return [...]string{"run", "result", "guard"}[k]
}
