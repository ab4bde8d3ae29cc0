package index_test

import (
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// The index of pages, mails and lists of records needs at most one and a half times the memory of
// its text. Programs and listings, where a token is shorter, need up to twice as much.
func TestMemory(t *testing.T) {
	w := newWriter(1)
	ix := index.New(key, index.Options{})
	size := 0
	for range 20 {
		page := w.prose(30000)
		texts, length := w.records(20000)
		size += len(page) + length
		ix.Add(&index.Batch{Know: everything, Texts: append(texts, text(page, flow.Tool))})
	}
	memory, _ := ix.Size()
	t.Logf("%d bytes of text, %d of index: %.2f", size, memory, float64(memory)/float64(size))
	if memory > int64(size)*3/2 {
		t.Errorf("%d bytes for %d bytes of text", memory, size)
		ix.LogSizes(t.Logf)
	}
}

// The index of a conversation that has only begun is small: there are as many as clients that wait for
// an answer.
func TestMemoryOfAShortConversation(t *testing.T) {
	ix := index.New(key, index.Options{})
	ix.Add(&index.Batch{Know: everything, Texts: []index.Text{text("fix the tests of the parser, then run them again", flow.User)}})
	if memory, _ := ix.Size(); memory > 1500 {
		t.Errorf("%d bytes", memory)
		ix.LogSizes(t.Logf)
	}
}
