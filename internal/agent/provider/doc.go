// Package provider asks models over the APIs of OpenAI (Chat Completions, Responses)
// and Anthropic (Messages), and of everything that speaks like them.
//
//	e := provider.Endpoint{API: provider.Chat, URL: "https://api.openai.com/v1", Model: "gpt-5", Key: key}
//	s, err := e.Ask(ctx, provider.Request{System: prompt, Messages: history, Tools: tools}, sink)
//	reply, err := s.Run()
//
// The calls of an answer are found by the codecs of wire/*, which hold every rule of
// the dialects; this package adds what an agent needs beside them: the request, and the
// text between the calls. What an answer consists of is kept in the neutral parts of
// package conversation, so that a conversation can go on with another provider.
package provider
