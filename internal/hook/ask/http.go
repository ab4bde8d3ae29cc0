package ask

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

// A client of the decision API that links no HTTP library: linking one takes a process that lives for
// one event as long to start as asking takes.

// Route is the route of the decision API that answers events of hooks.
const Route = "/v1/hooks"

// Headers of the request and of the response. Texts in them are percent-encoded. The names have their
// canonical spelling, in which servers in Go write them.
const (
	NonceHeader  = "Stopgate-Nonce"  // drawn for the request; each response has that of its request
	SpentHeader  = "Stopgate-Spent"  // a duration: the elapsed part of the deadline
	DirHeader    = "Stopgate-Dir"    // the working directory
	ArgHeader    = "Stopgate-Arg"    // an argument of the command line; repeated
	EnvHeader    = "Stopgate-Env"    // NAME=value, one of [Variables]; repeated
	ExitHeader   = "Stopgate-Exit"   // the exit status
	StdoutHeader = "Stopgate-Stdout" // the number of bytes of the body that are standard output; the rest is standard error
	// LenientHeader is present if a failure to write the answer does not block.
	LenientHeader = "Stopgate-Lenient"
)

// Request is everything that an answer depends on and that the server cannot find out itself.
type Request struct {
	// Nonce is drawn for this request, after its reader was checked.
	Nonce string
	// Spent is the time since the process started.
	Spent time.Duration
	// Args is its command line, Dir its working directory, Env the variables of
	// [Variables] that are set, as NAME=value.
	Args []string
	Dir  string
	Env  []string
	// Event is the host's event.
	Event []byte
}

// MaxRequest is the maximum size of a request in bytes. A larger event is decided by the process
// that received it.
const MaxRequest = 4 << 20

// MaxReply is the maximum size of a reply in bytes.
const MaxReply = 16 << 20

// Kind is the kind of a response. The zero Kind is invalid.
type Kind byte

// The kinds.
const (
	Held     Kind = 1 + iota // 102: an approval is requested, or another hook decides: the answer may take until the deadline
	Answered                 // 200: the answer
	Declined                 // anything else: the process must decide itself
)

// Reply is a response.
type Reply struct {
	Kind Kind
	// Exit is the exit status of the process, Out and Err its output.
	Exit byte
	// Lenient is set if a failure to write the answer does not block.
	Lenient  bool
	Out, Err []byte
}

// Append appends the request as HTTP/1.1.
func (q *Request) Append(to []byte) []byte {
	to = append(to, "POST "+Route+" HTTP/1.1\r\nHost: stopgate\r\nConnection: close\r\nContent-Length: "...)
	to = append(strconv.AppendInt(to, int64(len(q.Event)), 10), "\r\n"...)
	to = appendHeader(to, NonceHeader, q.Nonce)
	to = appendHeader(to, SpentHeader, q.Spent.String())
	to = appendHeader(to, DirHeader, q.Dir)
	for _, arg := range q.Args {
		to = appendHeader(to, ArgHeader, arg)
	}
	for _, v := range q.Env {
		to = appendHeader(to, EnvHeader, v)
	}
	return append(append(to, "\r\n"...), q.Event...)
}

// appendStatus appends a request for a description of the server.
func appendStatus(to []byte, nonce string) []byte {
	to = append(to, "GET "+Route+" HTTP/1.1\r\nHost: stopgate\r\nConnection: close\r\n"...)
	return append(appendHeader(to, NonceHeader, nonce), "\r\n"...)
}

func appendHeader(to []byte, name, value string) []byte {
	const digits = "0123456789ABCDEF"
	to = append(append(to, name...), ": "...)
	for i := range len(value) {
		if b := value[i]; b <= ' ' || b >= 0x7f || b == '%' {
			to = append(to, '%', digits[b>>4], digits[b&15])
		} else {
			to = append(to, b)
		}
	}
	return append(to, "\r\n"...)
}

var errResponse = errors.New("invalid response")

// maxHead is the maximum size of the status line and the headers of a response.
const maxHead = 4 << 10

// Parse parses the first response in a text to the request with a nonce. cut is set if it is
// incomplete. A response without Content-Length is invalid, except for [Held], which has no body.
func (p *Reply) Parse(text []byte, nonce string) (rest []byte, cut bool, err error) {
	head, body, complete := bytes.Cut(text, []byte("\r\n\r\n"))
	if len(head) > maxHead {
		return nil, false, errResponse
	}
	if !complete {
		return nil, true, nil
	}
	status, headers, _ := bytes.Cut(head, []byte("\r\n"))
	status, ok := bytes.CutPrefix(status, []byte("HTTP/1.1 "))
	if !ok {
		return nil, false, errResponse
	}
	values := make(map[string]string, 8)
	for line := range bytes.SplitSeq(headers, []byte("\r\n")) {
		name, value, ok := bytes.Cut(line, []byte(": "))
		if _, repeated := values[string(name)]; !ok || repeated {
			return nil, false, errResponse
		}
		values[string(name)] = string(value)
	}
	if values[NonceHeader] != nonce {
		return nil, false, errResponse
	}
	switch {
	case bytes.HasPrefix(status, []byte("102 ")):
		p.Kind = Held
		return body, false, nil
	case !bytes.HasPrefix(status, []byte("200 ")):
		p.Kind = Declined
		return nil, false, nil
	}
	length, err := strconv.ParseUint(values["Content-Length"], 10, 31)
	stdout, err2 := strconv.ParseUint(values[StdoutHeader], 10, 31)
	exit, err3 := strconv.ParseUint(values[ExitHeader], 10, 8)
	switch {
	case err != nil || err2 != nil || err3 != nil || stdout > length:
		return nil, false, errResponse
	case uint64(len(body)) < length:
		return nil, true, nil
	}
	p.Kind, p.Exit, p.Lenient = Answered, byte(exit), values[LenientHeader] != ""
	p.Out, p.Err = body[:stdout], body[stdout:length]
	return body[length:], false, nil
}
