// Package provider defines the interface between the surfaces of the gate and the codecs of the
// provider dialects, and contains the parts that all codecs share.
//
// A codec decodes the response of a model into [stopgate.Event] values. Once the calls are
// decided, it encodes the response for the client. It does no I/O and knows no policy. A
// surface drives it like this:
//
//	req, err := dialect.Request(body)           // on error: 400 with dialect.ErrorBody
//	st := dialect.Stream(req, sink, provider.Options{})
//	for dec.Next(&ev) {
//		out, need, err := st.Event(out, &ev)    // the sink receives the calls' arguments
//		if err != nil {
//			out = st.Abort(out, code, message)  // buffered calls are refused
//			break
//		}
//		if need == provider.Resolve {
//			out, err = st.Release(out, outcomes, flush)
//		}
//		if need == provider.Finished {
//			break
//		}
//	}
//
// Codecs keep the laws L1 to L14: unchanged data is forwarded byte for byte (L2); no part
// of a call is forwarded before its outcome (L3); an allowed call is written from the
// evaluated value, never from the upstream's bytes (L4); the output is valid in its dialect
// for every input and every set of outcomes (L6, L7, L8, L10).
//
// Read dialect.go first, then request.go, edits.go, settle.go, rounds.go and replaced.go.
package provider
