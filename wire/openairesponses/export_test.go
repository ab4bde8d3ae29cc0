package openairesponses

import "github.com/stopgate/stopgate/wire"

// ReadInFull makes a stream read every event in full, for tests that compare.
func ReadInFull(st wire.Stream) { st.(*stream).slow = true }
