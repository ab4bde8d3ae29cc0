// Package gemini is the codec of Google's Gemini API: generateContent and streamGenerateContent.
//
//	var d gemini.Dialect
//	req, err := d.Request(body)
//	gemini.ReadPath(req, "/v1beta/models/gemini-2.5-flash:streamGenerateContent")
//	st := d.Stream(req, sink, provider.Options{})
//
// Every event of a stream is a response with the next parts of its candidates. A call is one part
// with the whole arguments as an object, or several if the client asked for partial arguments. The
// stream has no terminal event, and some models send a finish reason in every event, so a turn ends
// at the end of the body. From the first call on, all events are buffered until then (L3, L6).
//
// Read dialect.go and request.go first, then chunk.go, call.go, stream.go and release.go; body.go
// is the counterpart for responses that are not streamed.
package gemini
