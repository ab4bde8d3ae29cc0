// Package replay is a model provider without a model: an http.Handler that answers POST
// /v1/chat/completions, /v1/responses, /v1/messages and the paths of Gemini like the real ones, streamed or not, from
// scripts and recordings.
//
//	up, err := replay.New(replay.Options{TokensPerSecond: 80})
//	http.ListenAndServe("127.0.0.1:8000", up)        // or
//	client := &http.Client{Transport: replay.Transport(up)}
//
// A scenario is a script of a conversation (see ParseScenario for the format). It is rendered into
// every dialect, in chunks of the sizes that real models send, at the pace of a real model. The
// number of assistant messages in the request selects the turn, so that an agent loop advances
// through the script, also after a refused call.
//
// A recording is the body of a real streamed response, played byte for byte.
//
// Every response names its source, so that it is not mistaken for that of a model: the header
// X-Stopgate-Upstream is "replay", and scripted responses have the name of the scenario as their
// model (S45). Options.Ended reports the part that was not generated because the client went away.
package replay
