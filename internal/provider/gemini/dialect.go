package gemini

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// Dialect is the codec of the Gemini API. It has no state.
type Dialect struct{}

var _ provider.Dialect = Dialect{}

// Name implements [provider.Dialect].
func (Dialect) Name() string { return "gemini" }

// Stream implements [provider.Dialect].
func (Dialect) Stream(r *provider.Request, sink provider.Sink, o provider.Options) provider.Stream {
	return &stream{answer: newAnswer(r, sink, o)}
}

// Body implements [provider.Dialect].
func (Dialect) Body(r *provider.Request, sink provider.Sink, o provider.Options) provider.Body {
	return &body{answer: newAnswer(r, sink, o)}
}

// Routes are the routes of the API. Everything else, such as batches, caches and live sessions, can
// deliver calls that no codec reads.
var Routes = routes("/v1beta", "/v1")

// SharedRoutes are the routes that carry no call.
var SharedRoutes = []provider.Route{
	{Method: "POST", Path: "/v1beta/models/{model}:embedContent", Kind: provider.Passed},
	{Method: "POST", Path: "/v1beta/models/{model}:batchEmbedContents", Kind: provider.Passed},
	{Method: "GET", Path: "/v1beta/models", Kind: provider.Passed},
	{Method: "GET", Path: "/v1beta/models/{model}", Kind: provider.Passed},
}

// The methods of a model.
const (
	wholeMethod  = ":generateContent"
	streamMethod = ":streamGenerateContent"
	countMethod  = ":countTokens"
)

func routes(versions ...string) (list []provider.Route) {
	for _, v := range versions {
		model := v + "/models/{model}"
		list = append(list,
			provider.Route{Method: "POST", Path: model + wholeMethod, Kind: provider.Turn},
			provider.Route{Method: "POST", Path: model + streamMethod, Kind: provider.Turn},
			provider.Route{Method: "POST", Path: model + countMethod, Kind: provider.Counted},
		)
	}
	return list
}

// ReadPath reads the model and the method of a path.
func ReadPath(r *provider.Request, path string) {
	model, method, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	r.Model, r.Stream = model, ":"+method == streamMethod
	r.DeclareModel(model)
}

// ErrorBody implements [provider.Dialect].
func (Dialect) ErrorBody(status int, code stopgate.Code, message string) []byte {
	return appendError(nil, status, code, message)
}

// statuses are the names of HTTP statuses in errors.
var statuses = map[int]string{
	401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 405: "UNIMPLEMENTED", 429: "RESOURCE_EXHAUSTED",
	499: "CANCELLED", 500: "INTERNAL", 502: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

// appendError appends the error object, for a body and for a stream. An empty message becomes the
// public text of the code.
func appendError(dst []byte, status int, code stopgate.Code, message string) []byte {
	if message == "" {
		message = code.Public()
	}
	name := statuses[status]
	if name == "" {
		name = "INVALID_ARGUMENT"
	}
	dst = strconv.AppendInt(append(dst, `{"error":{"code":`...), int64(status), 10)
	dst = jsonstream.AppendQuote(append(dst, `,"message":`...), "[stopgate] "+message+" ("+string(code)+")")
	dst = append(append(append(dst, `,"status":"`...), name...), `","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":`...)
	dst = jsonstream.AppendQuote(dst, string(code))
	return append(dst, `,"domain":"stopgate"}]}}`...)
}
