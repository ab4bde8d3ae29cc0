package anthropic

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// usageNames are the cumulative counters of a response.
var usageNames = [...]string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}

// usage stores the last literal of each counter, for the end of a response whose upstream
// was cancelled.
type usage [len(usageNames)][]byte

// read reads the counters of the member usage of an object.
func (u *usage) read(object jsonstream.Value) {
	member, _ := object.Get("usage")
	for i, name := range usageNames {
		if n, ok := member.Get(name); ok && n.Kind() == jsonstream.Number {
			u[i] = append(u[i][:0], n.Raw()...)
		}
	}
}

// estimate sets the counters to estimates.
func (u *usage) estimate(t provider.Tokens) {
	u[0] = strconv.AppendInt(nil, t.Input, 10)
	u[len(u)-1] = strconv.AppendInt(nil, t.Output, 10)
}

// appendTo appends the usage object. Clients require at least output_tokens in it.
func (u *usage) appendTo(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range usageNames[:len(u)-1] {
		if len(u[i]) > 0 {
			dst = append(append(append(dst, '"'), name...), `":`...)
			dst = append(append(dst, u[i]...), ',')
		}
	}
	dst = append(dst, `"output_tokens":`...)
	if output := u[len(u)-1]; len(output) > 0 {
		return append(append(dst, output...), '}')
	}
	return append(dst, "0}"...)
}
