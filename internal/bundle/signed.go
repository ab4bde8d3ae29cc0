package bundle

import "errors"

// Errors of channels.
var (
	ErrUnchanged = errors.New("the newest bundle is the one with the tag")
	ErrNone      = errors.New("there is no bundle")
)

// Signed is a bundle as it is transported, before it is verified.
type Signed struct {
	Archive, Signature []byte
	// Tag identifies it in its channel, where a channel returned it.
	Tag string
}
