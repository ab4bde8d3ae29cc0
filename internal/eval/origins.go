package eval

import "github.com/stopgate/stopgate"

// Origins lists where the values come from that conditions on origins evaluated, in the order in
// which they did.
func (e *Evaluation) Origins() []stopgate.Origin { return e.origins }
