package syntax

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// SessionFlow is the type of session policies about the texts that were read before.
const SessionFlow = "flow"

// SourceTable is one [sources.NAME]: which texts of results have the source. Several conditions
// must all hold.
type SourceTable struct {
	Name    flow.Source
	Trusted bool
	// Tools are the names and globs of tools. Globs cover only declared tools without an effect.
	Tools []string
	// ToolPos is where they are written.
	ToolPos diag.Range
	// Asked are conditions on the arguments of the call, Items the pointer of the items of a list,
	// Where conditions on the item, or on the result where there are no items.
	Asked []SourceCondition
	Items jsonstream.Pointer
	Where []SourceCondition
	// Field is the pointer of the texts in an item or a result: "*" for every element or member.
	// With Keys the texts are the keys of the objects that "*" at its end names.
	Field jsonstream.Pointer
	Keys  bool
	// Label is a pattern with one group, which is the text; "" for none. It is ECMA-262 that package
	// regexp reads, too.
	Label string
	// Format is how a structured result is read: "json", "yaml", "python" or "text"; "" is JSON if
	// it parses, else text.
	Format string
	// Last limits the source "user" to the person's last message.
	Last bool
	// As is the kind of the values, "" for that of the parameter that they are compared with.
	As  string
	Pos diag.Range
}

// SourceCondition is a condition on an argument or on a member of an item: a constant, a pattern, or
// the sources that the value must come from.
type SourceCondition struct {
	Pointer jsonstream.Pointer
	Const   *condition.Literal // nil if it is From or Pattern
	From    []flow.Source
	// Label is a pattern with one group: the part of the value that must come from the sources. "" is
	// the complete value. Without a match the condition does not hold.
	Label string
	// As is the kind of the value and Relation how closely it must agree with the text, each "" if
	// the file does not say.
	As, Relation string
	// Pattern, if set, is one that some text of the value must match: of sources that are not trusted
	// only. It is ECMA-262 that package regexp reads, too.
	Pattern string
	Pos     diag.Range
}

// FlowSettings is the [flow] table.
type FlowSettings struct {
	// Keep is "hashes", the default, or "none": sessions then keep no texts between processes.
	Keep string
	// KeepText stores the texts themselves, for replay.
	KeepText bool
	// Own are the addresses of the agent and its user: mail from them is of no known sender.
	Own []string
	// Budget is the length of texts in bytes that a session keeps, 0 for the default.
	Budget int64

	Written *tomltree.Value // nil if the file has no [flow]
}

// Says is a condition on the words of the person: in the last message, or anywhere in the session.
type Says struct {
	Pattern  string
	Anywhere bool
	// Key is equal for two conditions with the same meaning.
	Key string
	Pos diag.Range
}
