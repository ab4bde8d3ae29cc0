package openairesponses

import "github.com/stopgate/stopgate/internal/wire"

// ReadInFull makes a stream parse every event, for comparisons.
func ReadInFull(st wire.Stream) { st.(*stream).parseAll = true }
