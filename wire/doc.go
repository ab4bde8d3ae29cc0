// Package wire is the contract between the gate's surfaces and the codecs of the
// provider dialects, and the pieces that every codec shares.
//
// A codec turns a model's response into [stopgate.Event] values and, when it is
// told what was decided, into the bytes that the client may have. It knows no
// policy and does no I/O. The surface that drives it looks like this:
//
//	req, err := dialect.Request(body)           // 400 with dialect.ErrorBody on error
//	st := dialect.Stream(req, sink, wire.Options{})
//	for dec.Next(&ev) {
//		out, need, err := st.Event(out, &ev)    // the sink sees the calls' arguments
//		if err != nil {
//			out = st.Abort(out, code, message)  // held calls are refused
//			break
//		}
//		if need == wire.Resolve {
//			out, err = st.Release(out, outcomes, flush)
//		}
//		if need == wire.Finished {
//			break
//		}
//	}
//
// It promises the laws of WIRE 0: what is not changed is forwarded byte for byte
// (L2); nothing of a call leaves before its outcome is given (L3); an allowed
// call is written from the validated value, never from the upstream's bytes
// (L4); the stream that leaves is legal in its dialect for every input and every
// set of outcomes (L6, L7, L8, L10).
package wire
