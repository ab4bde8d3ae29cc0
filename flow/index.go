package flow

import "github.com/stopgate/stopgate"

// Index is the texts of one session while it grows. It is safe for concurrent use.
type Index interface {
	// View returns the texts so far, which later ones do not change.
	View() View
	// Size is the memory of the index in bytes, and Text the length of the texts that it has.
	Size() (index, text int64)
	// Restore adds a segment that a [Reader] returned for this session before.
	Restore(segment []byte) error
}

// Reader makes indexes and adds texts to them, by the sources that a policy declares. A segment is
// the stored form of what was added: keyed hashes, no text. It is nil if nothing was added, as for a
// message that the index has, or a result that it has. A Reader is safe for concurrent use.
type Reader interface {
	// Meaning identifies everything that the segments of the reader depend on. Those of another
	// meaning cannot be restored.
	Meaning() string
	// NewIndex returns an empty index. key is the key of the session's hashes, 32 random bytes.
	NewIndex(key []byte) Index
	// Knows adds sources that the surface of the session reports completely.
	Knows(to Index, k Knowledge) (segment []byte)
	// Message adds a message.
	Message(to Index, m *Message) (segment []byte)
	// Call adds the arguments of a released call, which the model wrote: a message that repeats one
	// is no message of a person, and the paths, addresses and ids that a call with an effect wrote
	// lose the trust of texts that are read from them. It changes how later messages and results are
	// added, and no answer of a view: a caller may add calls as late as before the next of those.
	Call(to Index, tool stopgate.ToolName, args []byte) (segment []byte)
	// Result adds a result.
	Result(to Index, r *Result) (segment []byte)
}
