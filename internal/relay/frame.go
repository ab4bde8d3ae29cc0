package relay

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// maxFrame is the maximum size of a frame in bytes, with its line feed.
const maxFrame = 16 << 20

// frame is a frame of the client: a new request, or a part of the body of one, or its end.
type frame struct {
	id      uint64
	method  string // "" for a frame of a request that began before
	path    string
	headers http.Header
	body    []byte
	open    bool // the body of the new request goes on
	end     bool // the body ends
	cancel  bool
}

// methods are the methods of the decision API.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// parseFrame reads a frame strictly: unknown, repeated and missing members are errors.
func parseFrame(line []byte) (f frame, err error) {
	root, err := jsonstream.Parse(line, jsonstream.Options{MaxBytes: maxFrame, ObjectRoot: true})
	if err != nil {
		return f, fmt.Errorf("not one JSON object: %w", err)
	}
	hasBody := false
	for key, v := range root.Members() {
		ok := true
		switch name := key.Text(); name {
		case "id":
			f.id, ok = idOf(v)
		case "method":
			f.method, ok = stringOf(v)
			ok = ok && slices.Contains(methods, f.method)
		case "path":
			f.path, ok = stringOf(v)
			ok = ok && strings.HasPrefix(f.path, "/")
		case "headers":
			f.headers, ok = headersOf(v)
		case "body":
			ok, hasBody = v.Kind() == jsonstream.String, true
			if ok {
				f.body = v.AppendText([]byte{})
			}
		case "open":
			f.open, ok = trueOf(v)
		case "end":
			f.end, ok = trueOf(v)
		case "cancel":
			f.cancel, ok = trueOf(v)
		default:
			return f, fmt.Errorf("unknown member %q", name)
		}
		if !ok {
			return f, fmt.Errorf("invalid member %q", key.Text())
		}
	}
	switch {
	case f.id == 0:
		return f, errors.New("no id")
	case f.method != "" && (f.path == "" || f.end || f.cancel):
		return f, errors.New("a request has method, path, headers, body and open")
	case f.method == "" && (f.path != "" || f.headers != nil || f.open):
		return f, errors.New("no method")
	case f.method == "" && hasBody == f.cancel:
		return f, errors.New("want body, with or without end, or cancel")
	case f.cancel && f.end:
		return f, errors.New("want end or cancel, not both")
	}
	return f, nil
}

// idOf decodes a positive whole number that every language can hold exactly.
func idOf(v jsonstream.Value) (uint64, bool) {
	if v.Kind() != jsonstream.Number {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v.Raw()), 10, 64)
	return n, err == nil && n > 0 && n < 1<<53
}

func stringOf(v jsonstream.Value) (string, bool) {
	if v.Kind() != jsonstream.String {
		return "", false
	}
	return v.Text(), true
}

func trueOf(v jsonstream.Value) (bool, bool) { return true, v.Kind() == jsonstream.True }

// reserved are headers that the connection to the gate has.
var reserved = []string{"Connection", "Content-Length", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Accept-Encoding"}

func headersOf(v jsonstream.Value) (http.Header, bool) {
	if v.Kind() != jsonstream.Object {
		return nil, false
	}
	h := http.Header{}
	for key, member := range v.Members() {
		name := http.CanonicalHeaderKey(key.Text())
		value, ok := stringOf(member)
		if !ok || h[name] != nil || slices.Contains(reserved, name) {
			return nil, false
		}
		h[name] = []string{value}
	}
	return h, true
}

// appendID begins a frame to the client.
func appendID(to []byte, id uint64) []byte {
	return strconv.AppendUint(append(to, `{"id":`...), id, 10)
}

// appendHead begins a frame with the status and the headers of a response.
func appendHead(to []byte, id uint64, r *http.Response) []byte {
	to = append(appendID(to, id), `,"status":`...)
	to = append(strconv.AppendInt(to, int64(r.StatusCode), 10), `,"headers":{`...)
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		if !slices.Contains(reserved, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(jsonstream.AppendQuote(to, strings.ToLower(name)), ':')
		to = jsonstream.AppendQuote(to, strings.ToValidUTF8(strings.Join(r.Header[name], ", "), "\uFFFD"))
	}
	return append(to, '}')
}

// appendProblem is the frame of an error; without an id it is the relay's own.
func appendProblem(to []byte, id uint64, p *Problem) []byte {
	if id > 0 {
		to = append(appendID(to, id), ',')
	} else {
		to = append(to, '{')
	}
	to = append(jsonstream.AppendQuote(append(to, `"error":{"code":`...), p.Code), `,"detail":`...)
	return append(jsonstream.AppendQuote(to, strings.ToValidUTF8(p.Detail, "\uFFFD")), "}}\n"...)
}

// Failure is the frame of a relay that cannot begin.
func Failure(p *Problem) []byte { return appendProblem(nil, 0, p) }

// Problem is an error that the client receives. Code is for programs, Detail for people.
type Problem struct{ Code, Detail string }

// Error returns both.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// The codes of problems.
const (
	Unreachable = "gate_unreachable" // no gate runs, and none could be started
	Untrusted   = "gate_untrusted"   // the process at the socket is not trusted
	Differs     = "gate_differs"     // the gate decides by other policy files
	Lost        = "gate_lost"        // the gate ended, or its response is not valid
	Cancelled   = "cancelled"        // the client cancelled the request
	BadFrame    = "bad_frame"        // the relay ends
	BadRequest  = "bad_request"
	TooLarge    = "too_large"
	TooMany     = "too_many_requests"
)

// problemOf returns the problem in an error, or one with a code.
func problemOf(err error, code string) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{code, err.Error()}
}
