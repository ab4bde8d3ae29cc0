package ask

import (
	"errors"
	"time"
)

// Both ends of the socket run the same file, so the protocol has no versions: lengths have 4 bytes
// in little-endian order, texts and lists are preceded by their length.

// Request is everything that an answer depends on and that the resident cannot find out itself.
type Request struct {
	// Nonce is drawn for this request, after its reader was checked.
	Nonce [nonceLen]byte
	// Status asks for a description of the resident instead.
	Status bool
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

const nonceLen = 16

// MaxRequest is the maximum size of a request in bytes. A larger event is decided by the process
// that received it.
const MaxRequest = 4 << 20

// MaxReply is the maximum size of a reply in bytes.
const MaxReply = 16 << 20

// Kind is the kind of a message of the resident. The zero Kind is invalid.
type Kind byte

// The kinds.
const (
	Held     Kind = 1 + iota // an approval is requested, or another hook decides: the answer may take until the deadline
	Answered                 // the answer
	Declined                 // the process must decide itself
)

// Reply is a message of the resident.
type Reply struct {
	Kind Kind
	// Exit is the exit status of the process, Out and Err its output.
	Exit byte
	// Lenient is set if a failure to write the answer does not block.
	Lenient  bool
	Out, Err []byte
}

const magic = "stopgate hook\x001\n"

var errMessage = errors.New("invalid message")

// HeaderLen is the size of a request's header in bytes, which has the size of the request.
const HeaderLen = len(magic) + 4

// Append appends a header and the request.
func (q *Request) Append(to []byte) []byte {
	at := len(to) + len(magic)
	to = append(append(to, magic...), 0, 0, 0, 0)
	to = append(to, q.Nonce[:]...)
	to = append(to, flag(q.Status))
	to = appendLen(appendLen(to, int(uint32(q.Spent>>32))), int(uint32(q.Spent)))
	to = appendText(to, q.Dir)
	for _, list := range [][]string{q.Args, q.Env} {
		to = appendLen(to, len(list))
		for _, s := range list {
			to = appendText(to, s)
		}
	}
	to = appendText(to, q.Event)
	appendLen(to[:at], len(to)-at-4)
	return to
}

// BodyLen parses a header. A request that is too large is an error.
func BodyLen(header []byte) (int, error) {
	if len(header) != HeaderLen || string(header[:len(magic)]) != magic {
		return 0, errMessage
	}
	r := reader{header[len(magic):], false}
	n := r.len()
	if n > MaxRequest {
		return 0, errMessage
	}
	return n, nil
}

// Parse parses the body of a request.
func (q *Request) Parse(body []byte) error {
	r := reader{body, false}
	copy(q.Nonce[:], r.take(nonceLen))
	q.Status = r.flag()
	q.Spent = time.Duration(r.len())<<32 | time.Duration(r.len())
	q.Dir = string(r.text())
	for _, list := range []*[]string{&q.Args, &q.Env} {
		for n := r.len(); n > 0 && !r.bad; n-- {
			*list = append(*list, string(r.text()))
		}
	}
	q.Event = r.text()
	return r.end()
}

// Append appends a reply to the request with a nonce.
func (p *Reply) Append(to []byte, nonce [nonceLen]byte) []byte {
	to = append(append(to, byte(p.Kind)), nonce[:]...)
	if p.Kind != Answered {
		return to
	}
	to = append(to, p.Exit, flag(p.Lenient))
	return appendText(appendText(to, p.Out), p.Err)
}

// Parse parses the first reply in a text to the request with a nonce. cut is set if it is
// incomplete.
func (p *Reply) Parse(text []byte, nonce [nonceLen]byte) (rest []byte, cut bool, err error) {
	r := reader{text, false}
	p.Kind = Kind(r.byte())
	replyNonce := r.take(nonceLen)
	if !r.bad && (string(replyNonce) != string(nonce[:]) || p.Kind < Held || p.Kind > Declined) {
		return nil, false, errMessage
	}
	if p.Kind == Answered {
		p.Exit, p.Lenient = r.byte(), r.flag()
		p.Out, p.Err = r.text(), r.text()
	}
	return r.rest, r.bad, nil
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// appendLen appends a number below 2^32 in little-endian order.
func appendLen(to []byte, n int) []byte {
	return append(to, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func appendText[T string | []byte](to []byte, text T) []byte {
	return append(appendLen(to, len(text)), text...)
}

// reader parses a message. bad is set after the first error.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	head := r.rest[:n]
	r.rest = r.rest[n:]
	return head
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) flag() bool { return r.byte() == 1 }

func (r *reader) len() (n int) {
	for i, b := range r.take(4) {
		n |= int(b) << (8 * i)
	}
	return n
}

func (r *reader) text() []byte { return r.take(r.len()) }

// end returns an error if the message is incomplete, or has trailing bytes.
func (r *reader) end() error {
	if r.bad || len(r.rest) > 0 {
		return errMessage
	}
	return nil
}
