package wire

import "github.com/stopgate/stopgate/jsonstream"

// bytesPerToken is what a token of text and of JSON commonly has.
const bytesPerToken = 4

// EstimateTokens is about how many tokens a text of so many bytes has.
func EstimateTokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// Generated is how many bytes of text a piece of a response holds: its strings, without
// those that only frame it.
func Generated(v jsonstream.Value) (n int64) {
	switch v.Kind() {
	case jsonstream.String:
		return int64(len(v.Raw()) - len(`""`))
	case jsonstream.Array:
		for e := range v.Elements() {
			n += Generated(e)
		}
	case jsonstream.Object:
		for k, e := range v.Members() {
			switch string(Key(k)) {
			case "id", "type", "role", "signature":
			default:
				n += Generated(e)
			}
		}
	}
	return n
}

// Estimate fills in the counters of a response that its provider did not send, from the
// bytes of the request and of what was generated.
func (n *Notes) Estimate(request int, generated int64) Tokens {
	if t := &n.Answer.Tokens; !t.Known {
		*t = Tokens{Known: true, Input: EstimateTokens(int64(request)), Output: EstimateTokens(generated)}
		n.UsageEstimated = true
	}
	return n.Answer.Tokens
}
