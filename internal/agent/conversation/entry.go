package conversation

import (
	"context"
	"errors"
	"time"
)

// Kind is the kind of an entry. The zero Kind is ignored.
type Kind string

// The kinds.
const (
	Begun   Kind = "begun"   // start of a conversation in Dir
	User    Kind = "user"    // message Text of the person
	Reply   Kind = "reply"   // response of a model with Parts
	Started Kind = "started" // the call Call of the latest reply is about to run
	Result  Kind = "result"  // the call Call of the latest reply has the result Text
)

// Entry is one line of the log.
type Entry struct {
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`
	Dir  string    `json:"dir,omitempty"`
	Text string    `json:"text,omitempty"`
	// Parts are the parts of the response, in order.
	Parts []Part `json:"parts,omitempty"`
	// API and Model identify the model; Cut reports that the response was stopped.
	API   string `json:"api,omitempty"`
	Model string `json:"model,omitempty"`
	Cut   bool   `json:"cut,omitempty"`
	// Call is the index of a call in the latest reply.
	Call int `json:"call,omitempty"`
	// Failed reports that Text describes a refusal or a failure.
	Failed bool `json:"failed,omitempty"`
	// Args are the arguments that ran if they differ from those of the reply: a person edited them,
	// or a path was cleaned.
	Args string `json:"args,omitempty"`
}

// PartKind is the kind of a part of a response.
type PartKind string

// The kinds of parts.
const (
	Text   PartKind = "text"
	Call   PartKind = "call"
	Opaque PartKind = "opaque" // only for the provider that wrote it
)

// Part is a part of a response.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"`
	// ID, Tool and Args describe a call; Args is one JSON object.
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool,omitempty"`
	Args string `json:"args,omitempty"`
	// Raw is an opaque part in the format of API, such as signed reasoning. It is sent only to that
	// API.
	API string `json:"api,omitempty"`
	Raw string `json:"raw,omitempty"`
}

// Info describes a conversation for lists.
type Info struct {
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Title   string    `json:"title"` // start of the first message
	Begun   time.Time `json:"begun"`
	Changed time.Time `json:"changed"`
	Entries int       `json:"entries"`
}

// ErrUnknown reports that the conversation does not exist.
var ErrUnknown = errors.New("conversation: unknown")

// Store stores conversations. It is safe for concurrent use, also by several processes.
type Store interface {
	// AppendEntries appends entries to a conversation; the first entry creates it. All entries are
	// durable when it returns nil.
	AppendEntries(ctx context.Context, id string, entries ...Entry) error
	// ConversationEntries returns the entries in order, or ErrUnknown if there are none.
	ConversationEntries(ctx context.Context, id string) ([]Entry, error)
	// Conversations lists the conversations that started in a directory, or all for "", the latest
	// change first.
	Conversations(ctx context.Context, dir string, limit int) ([]Info, error)
}

// maxTitle is the number of characters of the title of a conversation.
const maxTitle = 80

// Describe returns the description after new entries.
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
