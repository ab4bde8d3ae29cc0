package flow

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
)

// Conversation names what has texts of its own: a session, or one of several conversations in it.
type Conversation struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
	ID        string // "" is the session itself
}

// Errors of [Store.AppendTexts].
var (
	// ErrMoved is the error of a change to a log that has changed since it was read.
	ErrMoved = errors.New("flow: the stored texts have changed")
	// ErrFull is the error of a log that is longer than the store keeps.
	ErrFull = errors.New("flow: the conversation has more texts than the store keeps")
)

// Log is the stored texts of a conversation: the segments that a [Reader] returned, which have keyed
// hashes and no text. The texts themselves are stored only where a policy keeps them ([KeptText]). Segments are numbered from 1.
type Log struct {
	Key      []byte // the key of its hashes; nil if nothing is stored
	Meaning  string // of the reader that made the segments
	Position uint64 // number of the last segment
	// Segments are those after the position that was asked for, as far as they are stored.
	Segments [][]byte
	// Lost is set if texts of the conversation are not in the log.
	Lost bool
	// Kept is the length of the texts that the log's changes had in [Change.Texts].
	Kept int64
}

// Change appends to a log.
type Change struct {
	// Key and Meaning are those of the log, or of the one that the change begins.
	Key     []byte
	Meaning string
	// After is the position of the log; the change is refused with ErrMoved if it, or Key, differs.
	After    uint64
	Segments [][]byte
	// Lost marks that texts are not in the log. A change that has nothing else applies to any log.
	Lost bool
	// Replace begins a new log in the place of one with another key; After is ignored.
	Replace bool
	// Texts, if not nil, has for each segment the text itself in the stored form, for replay. Where it
	// is empty the text is not kept.
	Texts [][]byte
}

// KeptText is a text itself, which a policy keeps for replay.
type KeptText struct {
	Number uint64 // of its segment
	Text   []byte
	// Redacted reports that secrets were removed from it.
	Redacted bool
}

// Store keeps the texts of conversations between processes, which may share them. It is safe for
// concurrent use.
type Store interface {
	// LoadTexts returns the log of a conversation with the segments after a position, in one
	// consistent read. It is the zero Log if nothing is stored.
	LoadTexts(ctx context.Context, c Conversation, after uint64) (Log, error)
	// AppendTexts makes a change: all of it durable before it returns, or none. After another error
	// than ErrMoved and ErrFull the change may or may not have been made.
	AppendTexts(ctx context.Context, c Conversation, change Change) error
	// KeptTexts returns the texts themselves of a log, as far as they are kept, in the order of their
	// numbers. log is the id that records have of it. They outlast a change that replaces the log.
	KeptTexts(ctx context.Context, log string) ([]KeptText, error)
}
