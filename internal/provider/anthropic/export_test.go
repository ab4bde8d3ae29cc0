package anthropic

import "github.com/stopgate/stopgate/internal/provider"

// ReadInFull makes a stream parse every event, for comparisons.
func ReadInFull(st provider.Stream) { st.(*stream).parseAll = true }
