package flow

import "github.com/stopgate/stopgate"

// Source is the author of texts: a built-in source, or one that a policy file declares as
// [sources.NAME].
type Source string

// The built-in sources. Users and operators are trusted, other sources only if a policy declares
// it.
const (
	User   Source = "user"   // a person wrote it
	System Source = "system" // instructions of the operator
	Tool   Source = "tool"   // the result of any call
	Hidden Source = "hidden" // a part of a text that people do not see
	// Untrusted is, in conditions, every text of a result that has no trusted source.
	Untrusted Source = "untrusted"
)

// Message is a text that a person or an operator wrote, as a surface reports it. Texts of results
// are reported with the result, see [Result].
type Message struct {
	// Source is User or System, or Tool for content of another author that is the result of no
	// call: a document in a message, or what a client writes next to results.
	Source Source
	Text   []byte
	// Opaque reports that the model also reads content that is no text for the surface, such as
	// an image, in a message with the source Tool.
	Opaque bool
	// Answer is set for a word that the person wrote into a form of a server or a tool: it is the
	// person's, but begins no turn and satisfies no condition `says`, because another author asked
	// for it.
	Answer bool
	// ID identifies the message in its session, if the surface knows such an id: a second message
	// with the same ID and text is the same message. "" compares texts alone.
	ID string
}

// Result is the result of a call, as the texts that it has.
type Result struct {
	Tool     stopgate.ToolName // "" if the call is unknown
	Call     stopgate.CallID
	Proposal stopgate.ProposalID
	// Args are the arguments that ran, Data the result as the model receives it.
	Args, Data []byte
	// Released is set for the result of a call that the gate released. Others have no source but
	// Tool.
	Released bool
	Failed   bool
	// Opaque reports that the model also reads content in the result that is no text for the
	// surface, such as an image or an encrypted part: anything may occur in it. Data may be empty.
	Opaque bool
}

// Knowledge is the set of built-in sources whose texts a surface reports completely. A condition on
// the texts of another source is in doubt.
type Knowledge uint8

// The sources that surfaces may report.
const (
	KnowsUser Knowledge = 1 << iota
	KnowsSystem
	KnowsResults
)

// Ref names a text. It holds no part of the text.
type Ref struct {
	// Number is the position of the text in its session, from 1.
	Number int
	// Source is the declared source of the text if it has one, else the built-in one.
	Source   Source
	Tool     stopgate.ToolName // of a result
	Call     stopgate.CallID
	Proposal stopgate.ProposalID
	// Pointer is the RFC 6901 pointer of a leaf of a structured result, "" otherwise.
	Pointer string
}
