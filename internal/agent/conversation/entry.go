package conversation

import (
	"context"
	"errors"
	"time"
)

// Kind says what an entry records. The zero Kind records nothing and is ignored.
type Kind string

// The kinds.
const (
	Begun   Kind = "begun"   // a conversation in Dir begins
	User    Kind = "user"    // a person said Text
	Reply   Kind = "reply"   // a model answered with Parts
	Started Kind = "started" // the call Call of the latest reply is about to run
	Result  Kind = "result"  // the call Call of the latest reply has the result Text
)

// Entry is one line of the log.
type Entry struct {
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`
	Dir  string    `json:"dir,omitempty"`
	Text string    `json:"text,omitempty"`
	// Parts are what the model answered, in its order.
	Parts []Part `json:"parts,omitempty"`
	// API and Model say whose answer it was; Cut, that it was stopped on the way.
	API   string `json:"api,omitempty"`
	Model string `json:"model,omitempty"`
	Cut   bool   `json:"cut,omitempty"`
	// Call counts the calls of the latest reply from 0.
	Call int `json:"call,omitempty"`
	// Failed says that Text tells of a refusal or a failure.
	Failed bool `json:"failed,omitempty"`
	// Args are the arguments that run where they are not those of the reply: a person
	// changed them, or a path was cleaned.
	Args string `json:"args,omitempty"`
}

// PartKind says what a part of an answer is.
type PartKind string

// The parts.
const (
	Text   PartKind = "text"
	Call   PartKind = "call"
	Opaque PartKind = "opaque" // something that only the provider who wrote it understands
)

// Part is a part of an answer.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"`
	// ID, Tool and Args are a call's; Args is one JSON object.
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool,omitempty"`
	Args string `json:"args,omitempty"`
	// Raw is an opaque part as the provider of API wrote it, such as a signed piece of
	// reasoning. It is sent to that API alone.
	API string `json:"api,omitempty"`
	Raw string `json:"raw,omitempty"`
}

// Info describes a conversation for lists.
type Info struct {
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Title   string    `json:"title"` // the first thing that was said, cut short
	Begun   time.Time `json:"begun"`
	Changed time.Time `json:"changed"`
	Entries int       `json:"entries"`
}

// ErrUnknown says that there is no such conversation.
var ErrUnknown = errors.New("conversation: unknown")

// Store keeps conversations. Its methods may be used from several goroutines and
// processes at once.
type Store interface {
	// AppendEntries adds entries to a conversation, which begins with its first one. They
	// are durable, all of them, when it returns nil.
	AppendEntries(ctx context.Context, id string, entries ...Entry) error
	// ConversationEntries returns the entries in their order, ErrUnknown if there are
	// none.
	ConversationEntries(ctx context.Context, id string) ([]Entry, error)
	// Conversations lists the conversations that began in a directory, or all of them
	// (""), the one that changed last first.
	Conversations(ctx context.Context, dir string, limit int) ([]Info, error)
}

// maxTitle is how many characters of the first message name a conversation.
const maxTitle = 80

// Describe brings the description of a conversation up to date with new entries.
func (i Info) Describe(entries ...Entry) Info {
	for _, e := range entries {
		if i.Entries == 0 {
			i.Begun = e.At
		}
		i.Entries++
		i.Changed = e.At
		switch {
		case e.Kind == Begun:
			i.Dir = e.Dir
		case e.Kind == User && i.Title == "":
			title := []rune(e.Text)
			i.Title = string(title[:min(len(title), maxTitle)])
		}
	}
	return i
}
