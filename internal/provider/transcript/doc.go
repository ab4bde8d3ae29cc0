// Package transcript converts requests to models and their answers to the form of OpenTelemetry's
// conventions for generative AI: a list of messages with parts, for every API.
//
//	w := transcript.Writer{Hide: gate.Hide("/**/password")}
//	asked := w.Request(&registry.Named("anthropic").Transcript, body)
//	span.SetAttributes(attribute.String("gen_ai.input.messages", asked.Messages))
//
// Guarantees: it never fails, and returns valid JSON or "". Of unknown parts it writes only
// the type; of images and files only the name. Hidden values of arguments are hidden in the results
// of tools, too. Long texts are cut inside their string, and the oldest messages are dropped first.
package transcript
