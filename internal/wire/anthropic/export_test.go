package anthropic

import "github.com/stopgate/stopgate/internal/wire"

// ReadInFull makes a stream read every event in full, for tests that compare.
func ReadInFull(st wire.Stream) { st.(*stream).parseAll = true }
