package syntax

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// File is one parsed policy file: a tree with positions, in which aliases are already resolved
// (D25-02, D25-06).
type File struct {
	Name string
	// Conditions is the table of conditions that the file was parsed with.
	Conditions *condition.Table

	Gate      GateSettings
	Paths     PathSettings
	Lists     []*NamedList     // [lists], in file order
	Tools     []*ToolTable     // in file order
	Guards    []*Rule          // [[guard]], in file order: restrictive rules for every tool (K0a)
	Sessions  []*SessionPolicy // [[session]], in file order
	Handoffs  []*Handoff       // [[handoffs]], in file order
	Judge     *Judge           // [judge], nil if absent
	Externals []*External      // [[external]], in file order
	Sources   []*SourceTable   // [sources.NAME], in file order
	Flow      FlowSettings
	Servers   []ServerName // [servers], in file order
	// Tables are the operational tables ([gateway], [upstream], [audit], ...) by name. The packages
	// that own them decode them with [tomltree.Decode].
	Tables map[string]*tomltree.Value

	Source *tomltree.Document // nil for a file that was not parsed
	// Packs are the packs that the file uses, in the order in which they were read. Everything above
	// contains what they add.
	Packs  []Pack
	Broken bool // the parser reported errors
}

// Pack is a policy of the program itself that a file uses.
type Pack struct {
	Name    string // "go"
	Version int
	Source  *tomltree.Document // its file is "pack:go"
}

// ServerName is one entry of [servers]: another name of the MCP server that a pack is for. The rules of
// the pack are then also those of the tools that are called NAME__TOOL, and of mcp__NAME__TOOL.
type ServerName struct {
	Name string // as agents and gateways call the server
	Pack string // "mcp/github"
	Is   string // the name of the server in the pack: "github"
	Pos  diag.Range
}

// NameAt returns the name of the text that a range belongs to: the file, or one of its packs.
func (f *File) NameAt(at diag.Range) string {
	if n := int(at.Pack); n > 0 && n <= len(f.Packs) {
		return f.Packs[n-1].Source.File
	}
	return f.Name
}

// GateSettings is the [gate] table. The zero value is the strictest setting.
type GateSettings struct {
	UnknownTool       stopgate.Mode // deny, or ask with unknown_tool = "ask"
	UnknownParams     ParamAction   // default for tools without a setting of their own
	Uncovered         ParamAction   // parameters that a permit does not cover
	OnSchemaViolation stopgate.Mode // deny or ask
	DenyMode          string        // "", "tool_result" or "throw" (K33)
	Enforcement       string        // "", "enforce" or "observe" (K38)
	Strict            bool          // lints are errors (K0i)
	// DenialLimit is the number of denials in a row that stops a session (S28): nil if the file
	// does not set it, 0 for no limit.
	DenialLimit *int64
	// StructuredOutput decides about calls that are recognised as the structured output of a model:
	// Unattended allows them, every other value leaves them to the rules.
	StructuredOutput stopgate.Mode

	Written *tomltree.Value // nil if the file has no [gate]
}

// PathSettings is the [paths] table: directories that paths are matched against. This package never
// reads them from the machine (K19).
type PathSettings struct {
	Root string
	Home string
}

// NamedList is one entry of [lists] (K60). Rules already contain its values.
type NamedList struct {
	Name   string
	Values []condition.Literal
	Pos    diag.Range

	// ValuesAt is where each of Values is written.
	ValuesAt []*tomltree.Value
}

// ParamAction is the effect of an undeclared parameter (K24).
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
	Also      []string       // other names of the same tool (S39)
	Source    string         // who runs the tool; does not affect verdicts (K0f)
	Command   []string       // of a local tool: the program and its arguments
	About     string         // summary and description, for models
	Schema    *schema.Schema // from parameters; nil if the table declares none
	Run       *RuleList      // nil if the table has none
	Result    *RuleList
	Access    *Access        // files that the tool may touch; nil if the table does not say
	Success   *Success       // how results are read; nil if the table has none (S24)
	Effect    *bool          // effect: the tool changes something or sends something out; nil if the table does not say
	Unknown   *ParamAction   // unknown_params of the tool
	Uncovered *ParamAction   // uncovered of the tool
	OnSchema  *stopgate.Mode // on_schema_violation of the tool
	Pos       diag.Range     // of the name

	// AlsoAt is where each of Also is written.
	AlsoAt []*tomltree.Value
}

// Access is the access of a tool as a table writes it: paths as in the prefix condition, or "." for
// the project. A nil list is no limit, an empty one permits no file.
type Access struct{ Read, Write []string }

// RuleList is an ordered list of rules; the first match wins (D25-09).
type RuleList struct {
	Rules []*Rule
	Alias bool       // written as a string: run = "ask"
	Pos   diag.Range // range of the value, or of its first [[header]]

	Incomplete bool // some rules are missing because they have mistakes
}

// Quantifier is the number of leaves at a pointer that have to match.
type Quantifier uint8

// QuantifierDefault is any for restrictive rules and all for unattended ones.
const (
	QuantifierDefault Quantifier = iota
	QuantifierAny
	QuantifierAll
)

// Rule is one rule of a list or one guard.
type Rule struct {
	Index             int    // 0-based position in its list
	Pack              string // the name of its pack as messages have it, "" for a rule of the file itself
	ID                stopgate.RuleID
	Conditions        []Condition // none: catch-all; several: all = [...]
	Compound          bool        // written with all = [...]
	Mode              stopgate.Mode
	Match             Quantifier
	Reason            string // public text (K37)
	Note              string // internal
	When              *When
	AllowUnsafePrefix bool                 // Q3
	SameText          bool                 // its conditions on sources are satisfied by one text
	Ignores           []jsonstream.Pointer // K1
	Examples          []Example            // K36
	Pos               diag.Range

	*RuleKeys

	parsed string // Meaning, as the file was parsed; "" in a compact file
}

// RuleKeys is where keys of a rule are written.
type RuleKeys struct {
	IgnoresPos          []diag.Range // of each of Ignores
	MatchPos, OptOutPos diag.Range   // of match and allow_unsafe_prefix; zero where not written
}

// Condition is one matcher on one pointer, or on every parameter of a type.
type Condition struct {
	Arg         jsonstream.Pointer
	On          string // guards: "path", "command", "url" or "string" instead of Arg
	Every       bool   // arg = "*" in unless: every value of the arguments that is no list and no object
	IgnoreBelow bool   // guards on paths: ignore files that a command reads without naming them
	Match       Quantifier
	Spec        condition.Spec

	*ConditionKeys
}

// ConditionKeys is where a condition is written.
type ConditionKeys struct {
	Pos              diag.Range // of the whole condition
	ArgPos, ValuePos diag.Range

	ArgAt    *tomltree.Value   // the pointer as it is written
	ValuesAt []*tomltree.Value // where each of Spec.Values is written
}

// When restricts a rule or guard to calls with these constant facts; they are resolved at Open
// (K0c, K60). A non-empty list means "one of"; its entries may be globs.
type When struct {
	Agent, Surface, Server, Principal []string
	// Group holds if one of the principal's groups matches one of the names and globs.
	Group []string
	// Session is a condition on the session's data, nil if there is none.
	Session *SessionCondition
	// Says is a condition on the words of the person, nil if there is none.
	Says *Says
	// Effect is whether the tool has an effect, nil if the rule does not say.
	Effect *bool
	Pos    diag.Range

	// SessionKey is equal for two session conditions with the same meaning in rules of the same
	// polarity, "" if there is none. GroupKey is the same for conditions on groups.
	SessionKey, GroupKey string
}

// Example is a call that the author states to match, or not to match, a rule. It is checked when
// the file is read and has no effect afterwards.
type Example struct {
	Matches bool
	// Value is the arguments of a call, or, for a rule with one condition, one value
	// for its argument.
	Value condition.Literal
	Pos   diag.Range
}

// ListKind is where a rule is written.
type ListKind uint8

// A [tools.NAME] table has rules for calls and rules for their results (K32); guards are in tables
// of their own.
const (
	RunList ListKind = iota
	ResultList
	GuardList
)

// String returns the name of the list.
func (k ListKind) String() string {
	return [...]string{"run", "result", "guard"}[k]
}

// ParamActions are the actions as policy files spell them.
var ParamActions = []string{ParamAsk: "ask", ParamDeny: "deny", ParamAllow: "allow"}

// String returns the action as policy files spell it.
func (a ParamAction) String() string {
	if int(a) < len(ParamActions) {
		return ParamActions[a]
	}
	return ParamActions[ParamDeny]
}
