package gateway

import (
	"errors"
	"net/http"

	"github.com/stopgate/stopgate/internal/gateway/upstream"
)

// Upstream is a model provider or a compatible server.
type Upstream struct {
	// ID identifies it in records, headers and messages.
	ID string
	// API is "openai", "anthropic" or another vendor of APIs, or empty for all.
	API string
	// Models are patterns of the models that it serves; * matches any text. An upstream without
	// patterns serves all models that no other upstream of its API serves; each API has at most
	// one.
	Models []string
	// BaseURL is its address. If the path ends in a version such as /v1, the version of the
	// client's path is not repeated.
	BaseURL string
	// Key replaces the client's credential. It requires a token (S46).
	Key string
	// ObjectArguments accepts arguments that are an object instead of a string.
	ObjectArguments bool
	// Connections limits the number of connections; 0 means no limit.
	Connections int
	// Authorities are PEM certificates of certificate authorities, in addition to the system's.
	Authorities string
	// Timeouts overrides the nonzero upstream timeouts: Connect, Answer, AnswerWhole, IdleFirst,
	// Idle.
	Timeouts Timeouts
	// Transport sends the requests. The default refuses addresses that are not providers. A custom
	// one must not follow redirects.
	Transport http.RoundTripper
}

// Check reports whether a gateway can use the upstream.
func (u Upstream) Check() error { return u.options().Check() }

func (u Upstream) options() upstream.Options {
	return upstream.Options{
		ID: u.ID, API: u.API, Models: u.Models, BaseURL: u.BaseURL, Key: u.Key, ObjectArguments: u.ObjectArguments, Connections: u.Connections,
		Authorities: u.Authorities, Timeouts: u.Timeouts.upstream(), Transport: u.Transport,
	}
}

func (t Timeouts) upstream() upstream.Timeouts {
	return upstream.Timeouts{Connect: t.Connect, Answer: t.Answer, AnswerWhole: t.AnswerWhole, IdleFirst: t.IdleFirst, Idle: t.Idle}
}

// Causes of an exchange's context.
var (
	errAnswerLate = errors.New("the upstream did not answer in time")
	errIdle       = errors.New("the upstream was silent for too long")
	errTotal      = errors.New("the exchange took too long")
	errDraining   = errors.New("the gateway shuts down")
	errClientGone = errors.New("the client went away")
	errDenied     = errors.New("everything that was pending is denied")
	errOver       = errors.New("the exchange is over")
)
