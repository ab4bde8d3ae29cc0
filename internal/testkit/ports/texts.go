package ports

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// Texts is a [flow.Reader] that keeps the texts as they are. Its segments are bound to the key of
// their index, as keyed hashes are.
type Texts struct {
	Version string // its meaning
	Panic   string // a text at which it panics
}

// TextIndex is the index and the view of a [Texts].
type TextIndex struct {
	key  []byte
	mu   sync.Mutex
	list []TextEntry
}

// TextEntry is one addition.
type TextEntry struct {
	Key      []byte
	Kind     string
	Text     string
	ID       string
	Tool     stopgate.ToolName
	Args     string
	Released bool
	Opaque   bool
}

// String returns the entry for comparisons: its kind, tool and text.
func (e TextEntry) String() string {
	s := e.Kind
	if e.Tool != "" {
		s += " " + string(e.Tool)
	}
	if e.Released {
		s += " of " + e.Args
	}
	if e.Opaque {
		return s + ": " + e.Text + "+"
	}
	return s + ": " + e.Text
}

// Meaning returns the version.
func (r *Texts) Meaning() string { return r.Version }

// NewIndex returns an empty index.
func (r *Texts) NewIndex(key []byte) flow.Index { return &TextIndex{key: bytes.Clone(key)} }

// Knows adds an entry.
func (r *Texts) Knows(to flow.Index, k flow.Knowledge) []byte {
	return r.add(to, TextEntry{Kind: "knows", Text: string(rune('0' + k))})
}

// Message adds an entry.
func (r *Texts) Message(to flow.Index, m *flow.Message) []byte {
	return r.add(to, TextEntry{Kind: string(m.Source), Text: string(m.Text), ID: m.ID, Opaque: m.Opaque})
}

// Call adds an entry.
func (r *Texts) Call(to flow.Index, tool stopgate.ToolName, args []byte) []byte {
	return r.add(to, TextEntry{Kind: "call", Tool: tool, Text: string(args)})
}

// Result adds an entry.
func (r *Texts) Result(to flow.Index, f *flow.Result) []byte {
	return r.add(to, TextEntry{Kind: "result", Tool: f.Tool, Text: string(f.Data), ID: string(f.Proposal) + "/" + string(f.Call), Args: string(f.Args), Released: f.Released, Opaque: f.Opaque})
}

func (r *Texts) add(to flow.Index, e TextEntry) []byte {
	if r.Panic != "" && e.Text == r.Panic {
		panic("scripted")
	}
	x := to.(*TextIndex)
	x.mu.Lock()
	defer x.mu.Unlock()
	e.Key = x.key
	if slices.ContainsFunc(x.list, func(o TextEntry) bool { return o.String() == e.String() && o.ID == e.ID }) {
		return nil
	}
	x.list = append(x.list, e)
	segment, _ := json.Marshal(e)
	return segment
}

// View returns a copy.
func (x *TextIndex) View() flow.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	return &TextIndex{key: x.key, list: slices.Clone(x.list)}
}

// Size counts the bytes of all texts.
func (x *TextIndex) Size() (index, text int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.list {
		text += int64(len(e.Text))
	}
	return text, text
}

// Restore adds the entry of a segment.
func (x *TextIndex) Restore(segment []byte) error {
	var e TextEntry
	if err := json.Unmarshal(segment, &e); err != nil {
		return err
	}
	if !bytes.Equal(e.Key, x.key) {
		return errors.New("a segment of another key")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = append(x.list, e)
	return nil
}

// Entries returns the additions in their order, one a line.
func (x *TextIndex) Entries() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var lines []string
	for _, e := range x.list {
		lines = append(lines, e.String())
	}
	return strings.Join(lines, "\n")
}

// Find finds a value in texts of the same kind as one of the sources.
func (x *TextIndex) Find(value []byte, q *flow.Query) (f flow.Finding) {
	for i, e := range x.list {
		if slices.Contains(q.Sources, flow.Source(e.Kind)) && strings.Contains(e.Text, string(value)) {
			f.Certain, f.Possible, f.Texts = true, true, append(f.Texts, i+1)
		}
	}
	return f
}

// Carries finds nothing.
func (x *TextIndex) Carries([]byte, *flow.Query) flow.Finding { return flow.Finding{} }

// Origin returns no text.
func (x *TextIndex) Origin([]byte, flow.Kind) flow.Ref { return flow.Ref{} }

// Said reports whether the key is in a message.
func (x *TextIndex) Said(key string) bool {
	return slices.ContainsFunc(x.list, func(e TextEntry) bool { return e.Kind == "user" && strings.Contains(e.Text, key) })
}

// Read reports whether there is a result.
func (x *TextIndex) Read(*flow.Query, func(string) bool, bool) bool {
	return slices.ContainsFunc(x.list, func(e TextEntry) bool { return e.Kind == "result" })
}
