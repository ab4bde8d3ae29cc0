// Package provider requests responses from models over the APIs of OpenAI (Chat Completions,
// Responses) and Anthropic (Messages), and compatible ones.
//
//	e := provider.Endpoint{API: provider.Chat, URL: "https://api.openai.com/v1", Model: "gpt-5", Key: key}
//	s, err := e.Ask(ctx, provider.Request{System: prompt, Messages: history, Tools: tools}, sink)
//	reply, err := s.Run()
//
// The codecs of internal/provider find the calls of a response and implement the rules of the dialects.
// This package adds the rest: the request, and the text between the calls. The result is in the
// neutral form of package conversation, so that a conversation can continue with another provider.
package provider
