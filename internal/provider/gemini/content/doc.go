// Package content reads and writes the content of messages of the Gemini API for everything that
// does not judge calls: texts for event policies, scripts of the replay model, and conversations for
// telemetry. The codec is in the parent folder and does not use it.
package content
