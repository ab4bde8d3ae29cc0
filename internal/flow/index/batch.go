package index

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// Batch is the part that one message, call or result adds to an index.
type Batch struct {
	// Key identifies the message or the result: a batch with the key of an earlier one adds nothing.
	// An empty one is no key.
	Key []byte
	// Know are sources that the surface reports completely, from now on.
	Know flow.Knowledge
	// Person is set for a new message of the person: [flow.View.Read] with untilUser looks at later
	// batches, and Said of earlier messages ends.
	Person bool
	// Repeats is set for a message of the user that has no words but those of earlier texts: the person
	// may have written it. Said of earlier messages ends, and they are no longer the latest.
	Repeats bool
	// Said and SaidAnywhere are the keys of `says` conditions that hold on the message, and on the
	// session.
	Said, SaidAnywhere []string
	// Result is set for a result of Tool, "" if it is unknown, even where it has no texts.
	Result bool
	Tool   stopgate.ToolName
	// Echo are the texts in the arguments of the result's own call. What the result repeats of them
	// does not occur in it.
	Echo  [][]byte
	Texts []Text
	// Marks are further keys that [Index.Has] finds from now on.
	Marks [][]byte
	// Written are those of a call with an effect, see [Index.Written].
	Written [][]byte
}

// Text is a text of a batch.
type Text struct {
	// Ref names the text. The index gives it a number, and the source that explanations name: the
	// first declared one of Sources, or the first.
	Ref flow.Ref
	// Sources are its declared and built-in sources. A hidden part of a text has those of the text
	// and [flow.Hidden].
	Sources []flow.Source
	// Suspected are sources that the text may have: it counts for them wherever doubt counts, and
	// never for certain.
	Suspected []flow.Source
	Text      []byte
	// Trusted texts are dropped last.
	Trusted bool
	// Opaque is set where the model reads more than Text: anything may occur in it.
	Opaque bool
	// Object is the object of a structured result of which the text is a member: a number that is the
	// same for its members only, 0 for none.
	Object uint32
}

// overhead is the cost of a text beyond its length, and of a batch, in the budget.
const (
	textOverhead  = 16
	batchOverhead = 64
)

func (t *Text) cost() int64 {
	return int64(len(t.Text)) + textOverhead
}
