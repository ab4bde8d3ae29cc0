package source

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// texts is the index of a session as this package uses it.
type texts interface {
	flow.Index
	Add(b *index.Batch) (segment []byte)
	Has(key []byte) bool
	Written(value []byte, k flow.Kind) bool
	WroteWord(word []byte) bool
}

var _ texts = (*index.Index)(nil)
