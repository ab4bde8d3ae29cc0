package ask

import (
	"errors"
	"time"
)

// Both ends of the socket run one file, so that there is one version of what is said there:
// lengths have 4 bytes, the least significant one first, texts and lists their length
// before them.

// Question is what a process hands over: all that an answer depends on and that the
// resident would not find out for itself.
type Question struct {
	// Nonce is drawn for this question, once it is known who will read it.
	Nonce [nonceLen]byte
	// Status asks about the resident, and about no event.
	Status bool
	// Spent is how long the process has been at it.
	Spent time.Duration
	// Args is its command line, Dir its working directory, Env the variables of
	// [Variables] that are set, as NAME=value.
	Args []string
	Dir  string
	Env  []string
	// Event is what the host wrote.
	Event []byte
}

const nonceLen = 16

// MaxQuestion is the longest question, in bytes; an event that makes a longer one is
// decided by the process that was asked.
const MaxQuestion = 4 << 20

// MaxReply is the longest that the resident says, in bytes.
const MaxReply = 16 << 20

// Kind is what a message of the resident says. The zero Kind says nothing.
type Kind byte

// The kinds.
const (
	Held     Kind = 1 + iota // a person is asked, or another hook decides: the answer takes as long as the deadline lets it
	Answered                 // the answer
	Declined                 // the process has to decide itself
)

// Reply is what the resident says.
type Reply struct {
	Kind Kind
	// Exit is the status of the process, Out and Err what it writes.
	Exit byte
	// Lenient says that an answer that cannot be written is none the less one.
	Lenient  bool
	Out, Err []byte
}

const magic = "stopgate hook\x001\n"

var errMessage = errors.New("no message of ours")

// HeaderLen is the length of what stands before a question, in bytes: it says how long
// the question is.
const HeaderLen = len(magic) + 4

// Append writes a question behind its header.
func (q *Question) Append(to []byte) []byte {
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

// BodyLen reads a header. A question that is too long is an error.
func BodyLen(header []byte) (int, error) {
	if len(header) != HeaderLen || string(header[:len(magic)]) != magic {
		return 0, errMessage
	}
	r := reader{header[len(magic):], false}
	n := r.len()
	if n > MaxQuestion {
		return 0, errMessage
	}
	return n, nil
}

// Parse reads what stands behind a header.
func (q *Question) Parse(body []byte) error {
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

// Append writes a reply to the question with a nonce.
func (p *Reply) Append(to []byte, nonce [nonceLen]byte) []byte {
	to = append(append(to, byte(p.Kind)), nonce[:]...)
	if p.Kind != Answered {
		return to
	}
	to = append(to, p.Exit, flag(p.Lenient))
	return appendText(appendText(to, p.Out), p.Err)
}

// Parse reads the first reply of a text to the question with a nonce. cut says that it is
// not complete yet.
func (p *Reply) Parse(text []byte, nonce [nonceLen]byte) (rest []byte, cut bool, err error) {
	r := reader{text, false}
	p.Kind = Kind(r.byte())
	theirs := r.take(nonceLen)
	if !r.bad && (string(theirs) != string(nonce[:]) || p.Kind < Held || p.Kind > Declined) {
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

// appendLen writes a number below 2^32, the least significant byte first.
func appendLen(to []byte, n int) []byte {
	return append(to, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func appendText[T string | []byte](to []byte, text T) []byte {
	return append(appendLen(to, len(text)), text...)
}

// reader takes a message apart. Once something was missing it is bad.
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

// end reports a message that is cut, or longer than what it says.
func (r *reader) end() error {
	if r.bad || len(r.rest) > 0 {
		return errMessage
	}
	return nil
}
