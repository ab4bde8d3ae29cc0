// Package transcript writes down what models are asked and what they answer, in the
// form that OpenTelemetry's conventions for generative AI describe: a list of messages
// with parts, whichever API it was.
//
//	w := transcript.Writer{Hide: gate.Hide("/**/password")}
//	asked := w.Request("anthropic", body)
//	span.SetAttributes(attribute.String("gen_ai.input.messages", asked.Messages))
//
// What it promises: it never fails, and writes legal JSON or nothing; of what it does
// not know it writes the type and no more; pictures and files are named, not copied;
// what is hidden in arguments stays hidden, in the results of tools as well; a text
// that is too long is cut inside its string, and the oldest messages give way to the
// newest.
package transcript
