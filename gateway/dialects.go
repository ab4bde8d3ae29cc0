package gateway

import (
	"net/http"
	"strings"

	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/anthropic"
	"github.com/stopgate/stopgate/wire/openaichat"
	"github.com/stopgate/stopgate/wire/openairesponses"
)

// The routes that carry calls.
const (
	chatPath      = "/v1/chat/completions"
	responsesPath = "/v1/responses"
	messagesPath  = "/v1/messages"
)

// dialectOf is the dialect of a gated route, nil for other routes.
func dialectOf(path string) wire.Dialect {
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

// errorDialect is the dialect in which a request that is refused hears of it: that
// of its path, or the one that its headers suggest.
func errorDialect(r *http.Request) wire.Dialect {
	path := chatPath
	if strings.HasPrefix(r.URL.Path, responsesPath) {
		path = responsesPath
	}
	if strings.HasPrefix(r.URL.Path, messagesPath) || r.Header.Get("Anthropic-Version") != "" {
		path = messagesPath
	}
	return dialectOf(path)
}
