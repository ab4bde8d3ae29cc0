package gateway

import (
	"net/http"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
)

// The routes whose responses can contain calls.
const (
	chatPath      = "/v1/chat/completions"
	responsesPath = "/v1/responses"
	messagesPath  = "/v1/messages"
)

// dialectOf returns the dialect of a gated route, or nil for other routes.
func dialectOf(path string) provider.Dialect {
	switch path {
	case chatPath:
		return openaichat.Dialect{}
	case responsesPath:
		return openairesponses.Dialect{}
	case messagesPath:
		return anthropic.Dialect{}
	}
	return nil
}

// errorDialect returns the dialect for the error response to a refused request: the one of its
// path, or the one that its headers suggest.
func errorDialect(r *http.Request) provider.Dialect {
	path := chatPath
	if strings.HasPrefix(r.URL.Path, responsesPath) {
		path = responsesPath
	}
	if strings.HasPrefix(r.URL.Path, messagesPath) || r.Header.Get("Anthropic-Version") != "" {
		path = messagesPath
	}
	return dialectOf(path)
}
