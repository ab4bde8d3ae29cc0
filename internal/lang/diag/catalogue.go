package diag

import "strings"

// Code identifies one kind of mistake. A code never changes its meaning and is never reused.
type Code string

// The text of a file: mistakes that make it invalid as a policy.
const (
	Syntax         Code = "SG0101"
	Duplicate      Code = "SG0102"
	UnknownKey     Code = "SG0103"
	WrongType      Code = "SG0104"
	MissingKey     Code = "SG0105"
	BadValue       Code = "SG0106"
	BadVersion     Code = "SG0107"
	AliasIgnored   Code = "SG0108"
	LegacySpelling Code = "SG0109"
	ToolTwice      Code = "SG0110"
	BadPointer     Code = "SG0111"
	BadCondition   Code = "SG0112"
	ModeNotHere    Code = "SG0113"
	UnknownList    Code = "SG0114"
	BadName        Code = "SG0115"
	BadParameter   Code = "SG0116"
	BadNumber      Code = "SG0117"
	Untrusted      Code = "SG0118"
	BundledTable   Code = "SG0119"
	TooLarge       Code = "SG0120"
	UnknownSource  Code = "SG0121"
	SourceCycle    Code = "SG0122"
)

// Rules against types: configuration errors (D25).
const (
	NoSuchParameter Code = "SG0201"
	MatcherType     Code = "SG0202"
	LiteralType     Code = "SG0203"
	PathLiteral     Code = "SG0204"
	BadGlob         Code = "SG0205"
	BadPattern      Code = "SG0206"
	NeverHolds      Code = "SG0207"
	BadDefinition   Code = "SG0208"
	SchemaKeyword   Code = "SG0209"
	PathsOnly       Code = "SG0210"
)

// Rules against each other.
const (
	Unreachable      Code = "SG0301"
	ShadowedMostly   Code = "SG0302"
	NotProven        Code = "SG0303"
	NoCatchAll       Code = "SG0304"
	DefaultsReplaced Code = "SG0305"
	DefaultSkipped   Code = "SG0306"
	DefaultUseless   Code = "SG0307"
	ShadowedPlain    Code = "SG0308"
)

// Traps: legal rules that mean something other than their author intended.
const (
	IgnoresTarget    Code = "SG0401"
	IgnoresParameter Code = "SG0402"
	PermissiveAny    Code = "SG0403"
	Unanchored       Code = "SG0404"
	UnsafePrefix     Code = "SG0405"
	PermissiveRoot   Code = "SG0406"
	OptionalTarget   Code = "SG0407"
	MembersMeet      Code = "SG0408"
	SchemaUnknown    Code = "SG0409"
	LiteralDotFile   Code = "SG0410"
	NoPathSeen       Code = "SG0411"
	UselessOptOut    Code = "SG0412"
	Modifiers        Code = "SG0413"
	NegativePattern  Code = "SG0414"
	WrapperPrefix    Code = "SG0415"
	ScriptPrefix     Code = "SG0416"
	SuccessUnknown   Code = "SG0417"
	AllRequired      Code = "SG0418"
	GovernsNothing   Code = "SG0419"

	WholeText          Code = "SG0420"
	TrustedByUntrusted Code = "SG0421"
	SenderByWords      Code = "SG0422"
	DenyAfterText      Code = "SG0423"
	OpenDestination    Code = "SG0424"
	SourceWithoutTool  Code = "SG0425"
	FromFreeText       Code = "SG0426"
	KindUnknown        Code = "SG0427"
	NameFromText       Code = "SG0428"
	NamedHost          Code = "SG0429"
	UnlessUnfit        Code = "SG0430"
	OpenEffect         Code = "SG0431"
)

// Statements of a file about itself.
const (
	WrongExample Code = "SG0501"
)

// Results of comparing two policies.
const (
	LoosenedCalls  Code = "SG0601"
	TightenedCalls Code = "SG0602"
	NotCompared    Code = "SG0603"
)

// Entry is one row of the catalogue.
type Entry struct {
	Code     Code
	Name     string // display name, also in SARIF: lower case, underscores
	Severity Severity
	Strict   bool // an error instead of a warning in strict mode (K0i)
	Meaning  string
}

// Summary returns the meaning without the ids of its sources.
func (e Entry) Summary() string {
	summary, _, _ := strings.Cut(e.Meaning, " (")
	return summary
}

// Catalogue returns all codes in order. The caller must not modify it.
func Catalogue() []Entry { return catalogue[:] }

// entry returns the row of a code. An unknown code is an error.
func (c Code) entry() Entry {
	for _, e := range catalogue {
		if e.Code == c {
			return e
		}
	}
	return Entry{Code: c, Severity: Error}
}

// Severity returns the severity of findings with this code.
func (c Code) Severity() Severity { return c.entry().Severity }

// Strict reports whether strict mode turns the warning into an error (K0i).
func (c Code) Strict() bool { return c.entry().Strict }

// Name returns the display name of the code, "" if it is not in the catalogue.
func (c Code) Name() string { return c.entry().Name }

const (
	trap  = true // an error in strict mode
	legal = false
)

var catalogue = [...]Entry{
	{Syntax, "syntax", Error, legal, "the text is not TOML, or holds what the language cannot read"},
	{Duplicate, "duplicate", Error, legal, "a key, table, rule or list member is written twice"},
	{UnknownKey, "unknown_key", Error, legal, "a key or table that the language does not have"},
	{WrongType, "wrong_type", Error, legal, "a value has another type than its key asks for"},
	{MissingKey, "missing_key", Error, legal, "a key that has to be written is absent"},
	{BadValue, "bad_value", Error, legal, "a value has the right type and is not one of those that are possible"},
	{BadVersion, "bad_version", Error, legal, "the file is written for another version of the language"},
	{AliasIgnored, "alias_ignored", Warning, legal, "run or result is written beside policy, which wins (D25-02, D25-03)"},
	{LegacySpelling, "legacy_spelling", Warning, legal, "a spelling that is only kept for older files; said once per file (K54)"},
	{ToolTwice, "tool_twice", Error, legal, "two tables claim one tool, or two globs claim it with equal right (K0b, K27, S39)"},
	{BadPointer, "bad_pointer", Error, legal, "arg is not a JSON Pointer that can be used here (RFC 6901, K22)"},
	{BadCondition, "bad_condition", Error, legal, "a condition is not arg and exactly one matcher (D25-28, K28)"},
	{ModeNotHere, "mode_not_here", Error, legal, "a mode that this list cannot have: deny in result, unattended in a guard (K0a, K32)"},
	{UnknownList, "unknown_list", Error, legal, "a rule names a list that [lists] does not have"},
	{BadName, "bad_name", Error, legal, "a tool name or a glob over names that can never match"},
	{BadParameter, "bad_parameter", Error, legal, "a parameter declaration that is no schema"},
	{BadNumber, "bad_number", Error, legal, "a number that is not an exact decimal (K26)"},
	{Untrusted, "untrusted_setting", Error, legal, "a project file that nobody trusted holds more than rules (S3)"},
	{BundledTable, "bundled_table", Error, legal, "a file of a policy bundle has a table of the gate itself: address, store, identity or bundle"},
	{TooLarge, "too_large", Error, legal, "the file exceeds a limit"},
	{UnknownSource, "unknown_source", Error, legal, "a condition names a source that the file does not declare and the language does not have"},
	{SourceCycle, "source_cycle", Error, legal, "a source depends on itself"},

	{NoSuchParameter, "no_such_parameter", Error, legal, "a pointer that resolves to nothing in the tool's schema (D25-15)"},
	{MatcherType, "matcher_type", Error, legal, "a matcher that cannot look at the parameter's type (D25-30)"},
	{LiteralType, "literal_type", Error, legal, "a literal that can never equal a value of the parameter's type (D25-31)"},
	{PathLiteral, "path_literal", Error, legal, "a path literal that is not in canonical form (C17, K20)"},
	{BadGlob, "bad_glob", Error, legal, "a glob that is not well-formed (K18)"},
	{BadPattern, "bad_pattern", Error, legal, "a pattern that is not ECMA-262 or would mean something else here (Q9, K49)"},
	{NeverHolds, "never_holds", Error, legal, "a condition that no arguments satisfy (K5)"},
	{BadDefinition, "bad_definition", Error, legal, "the schema that a tool comes with cannot be read, or contradicts the file (K25)"},
	{SchemaKeyword, "schema_keyword", Note, legal, "a schema keyword that is not checked; permissive rules do not rely on it (K0g)"},
	{PathsOnly, "paths_alone", Error, legal, "an unattended rule that only says what a command reads or writes: it names no command and never holds"},

	{Unreachable, "unreachable", Error, legal, "no arguments reach the rule: earlier rules always match first"},
	{ShadowedMostly, "shadowed_unless_mixed", Warning, trap, "only a list of mixed values reaches the rule"},
	{NotProven, "not_proven", Note, legal, "whether the rule can be reached was not decided"},
	{NoCatchAll, "no_catch_all", Warning, legal, "the list does not end with a rule without condition (D25-11)"},
	{DefaultsReplaced, "defaults_replaced", Warning, legal, "restrictive rules of * do not apply to a tool with its own list (K57)"},
	{DefaultSkipped, "default_skipped", Warning, trap, "a restrictive rule of * is skipped for a tool that lacks its parameter, unless calls may bring it (Q5)"},
	{DefaultUseless, "default_skipped_permissive", Note, legal, "a permissive rule of * is skipped for a tool that lacks its parameter (Q5)"},
	{ShadowedPlain, "shadowed_if_plain", Warning, trap, "only command lines that are not plain reach the rule: an unattended rule takes all others"},

	{IgnoresTarget, "permissive_ignores_target", Warning, trap, "a permissive rule leaves a path, command or url parameter open (K1)"},
	{IgnoresParameter, "permissive_ignores_parameter", Note, legal, "a parameter that no permissive rule of the tool looks at (B7)"},
	{PermissiveAny, "permissive_any", Warning, legal, "an unattended rule that one element of an array satisfies"},
	{Unanchored, "unanchored_pattern", Warning, trap, "a permissive pattern that is not anchored at both ends (D1, D2)"},
	{UnsafePrefix, "unsafe_prefix", Warning, trap, "a permissive prefix on a plain string (D6, Q3)"},
	{PermissiveRoot, "permissive_root", Warning, trap, "a permissive rule on the whole file system (C17)"},
	{OptionalTarget, "optional_target", Warning, legal, "an absent argument falls through a restrictive rule to a permissive catch-all (B3)"},
	{MembersMeet, "members_cross_array", Warning, legal, "members of one rule cross the same array; they may hold for different elements"},
	{SchemaUnknown, "schema_unknown", Warning, legal, "no schema is known: pointers and types of the rules were not checked (K24)"},
	{LiteralDotFile, "literal_name", Note, legal, "a restrictive path literal that names one file only (C4)"},
	{NoPathSeen, "no_path_seen", Note, legal, "no guard on paths sees anything in the calls of a tool (S40)"},
	{UselessOptOut, "useless_opt_out", Warning, legal, "an opt-out that changes nothing on this rule"},
	{Modifiers, "pattern_modifiers", Warning, trap, "a permissive pattern that changes its meaning inside itself (D3)"},
	{NegativePattern, "negative_pattern", Warning, trap, "a permissive pattern that says what is not there (D8)"},
	{WrapperPrefix, "wrapper_prefix", Warning, trap, "a permissive prefix of commands that ends with a program which runs others (E13)"},
	{ScriptPrefix, "script_prefix", Warning, trap, "a permissive prefix that leaves open the script of a program with a language of its own (E17)"},
	{SuccessUnknown, "success_unknown", Note, legal, "a policy waits for the success of a tool, and nothing says how its results tell it (S24)"},
	{AllRequired, "all_required", Note, legal, "a policy with several prerequisites waits for all of them"},
	{GovernsNothing, "governs_nothing", Warning, trap, "a session policy governs no tool that is known"},
	{WholeText, "whole_text_trusted", Warning, trap, "a trusted source has complete pages, mails or files, or the free text of every item"},
	{TrustedByUntrusted, "trusted_by_untrusted", Warning, trap, "a trusted source depends on texts of a source that is not"},
	{SenderByWords, "sender_by_words", Warning, legal, "the sender of items is compared by words, which others can have, too"},
	{DenyAfterText, "deny_after_text", Warning, legal, "a session policy denies after texts that nearly every task reads"},
	{OpenDestination, "open_destination", Warning, trap, "a permissive rule of a tool with an effect leaves its destination open"},
	{SourceWithoutTool, "source_without_tool", Warning, trap, "no tool that is known has the source"},
	{FromFreeText, "from_free_text", Warning, legal, "a permissive rule looks for the origin of a free text"},
	{KindUnknown, "kind_unknown", Note, legal, "a permissive rule compares a value with texts, and nothing states its kind"},
	{NameFromText, "name_from_text", Error, legal, "a permissive rule takes a name or an id from complete texts of others"},
	{NamedHost, "named_host", Note, legal, "a permissive rule holds for every URL of a host that was named"},
	{UnlessUnfit, "unless_unfit", Warning, legal, "a condition of unless or where is on a parameter that no governed tool has"},
	{OpenEffect, "open_effect", Warning, legal, "a permissive rule of a tool with an effect holds for calls that no condition limits"},

	{WrongExample, "wrong_example", Error, legal, "a rule does not treat one of its examples as it says"},

	{LoosenedCalls, "loosened", Warning, legal, "diff: an edit lets more run, or asks less"},
	{TightenedCalls, "tightened", Note, legal, "diff: an edit lets less run, or asks more"},
	{NotCompared, "not_compared", Warning, legal, "diff: what an edit changes was not decided"},
}
