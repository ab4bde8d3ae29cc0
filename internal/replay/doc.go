// Package replay is a model provider that needs no model: an http.Handler that
// answers POST /v1/chat/completions, /v1/responses and /v1/messages like the real
// ones, streamed or whole, from scripts and recordings.
//
//	up, err := replay.New(replay.Options{TokensPerSecond: 80})
//	http.ListenAndServe("127.0.0.1:8000", up)        // or
//	client := &http.Client{Transport: replay.Transport(up)}
//
// A scenario is a script of a conversation (see ParseScenario for the format).
// The same script is rendered into every dialect, cut into pieces of the sizes
// that real models send and played at the pace of a real model. Which turn is
// played follows from the number of assistant messages in the request, so an
// agent loop advances through the script, also past a call that was refused.
//
// A recording is the body of a real streamed response, played byte for byte.
//
// Every answer names its source: the header X-Stopgate-Upstream is "replay", and
// scripted answers carry the scenario's own name as their model (S45),
// so that nobody takes canned calls for a model's. What was not generated because
// the client went away is told to Options.Ended.
package replay
