package ask

import (
	"os"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/system/peer"
)

// ask asks the resident at a path, if there is one, within the deadline.
func (a *Asked) ask(path string, args []string, limit time.Duration) {
	c, ok := connect(path, min(limit/4, maxPatience))
	if !ok {
		return
	}
	defer c.Close()
	defer func() { a.Spent = time.Since(c.began) }()
	q := Request{Args: args, Env: environment()}
	var err error
	if q.Dir, err = os.Getwd(); err != nil || !a.readAll(c.until) {
		return
	}
	q.Event = a.read
	r, ok := c.put(func(nonce string) []byte {
		q.Nonce, q.Spent = nonce, time.Since(c.began)
		a.Nonce = nonce
		return q.Append(nil)
	}, limit)
	if ok && r.Kind == Answered {
		a.Reply = r
	}
}

// Status returns a description of the resident. If ok is false, text is the reason why there is
// none.
func Status() (text string, ok bool) {
	path, ok := Path()
	if !ok {
		return "there is no place for its socket", false
	}
	if _, err := os.Lstat(path); err != nil {
		return "none is running", false
	}
	c, ok := connect(path, maxPatience)
	if !ok {
		return "none is running that this program may believe", false
	}
	defer c.Close()
	r, ok := c.put(func(nonce string) []byte { return appendStatus(nil, nonce) }, maxPatience)
	if !ok || r.Kind != Answered {
		return "it does not answer", false
	}
	return string(r.Out), true
}

// connection is a connection to a trusted process.
type connection struct {
	*peer.Conn
	began time.Time
	until time.Time
}

// connect connects to the resident. It returns false if there is none, or it is not trusted.
func connect(path string, patience time.Duration) (*connection, bool) {
	began := time.Now()
	c, err := peer.Dial(path, Own(), began.Add(patience))
	return &connection{c, began, began.Add(patience)}, err == nil
}

// put sends the request with a nonce, and waits for the reply; after c.until only if the resident
// has replied [Held].
func (c *connection) put(request func(nonce string) []byte, limit time.Duration) (r Reply, ok bool) {
	// The nonce is drawn only now: the peer cannot have seen it before the check.
	nonce, ok := random()
	if !ok {
		return r, false
	}
	text := request(nonce)
	if len(text) > MaxRequest {
		return r, false
	}
	if _, err := c.Write(text); err != nil {
		return r, false
	}
	return c.reply(nonce, limit)
}

// reply reads the reply. Every byte of it must be written by the process that was checked,
// according to the kernel.
func (c *connection) reply(nonce string, limit time.Duration) (r Reply, ok bool) {
	var text []byte
	piece := make([]byte, 4<<10)
	for {
		n, err := c.Read(piece)
		if err != nil || len(text)+n > MaxReply {
			return r, false
		}
		text = append(text, piece[:n]...)
		for cut := false; !cut; {
			var rest []byte
			var err error
			r = Reply{}
			if rest, cut, err = r.Parse(text, nonce); err != nil {
				return r, false
			}
			if !cut && r.Kind != Held {
				return r, len(rest) == 0 && c.Trusted() // still the same process, running the same file
			}
			if !cut {
				text, c.until = rest, c.began.Add(limit)
				if c.SetDeadline(c.until) != nil {
					return r, false
				}
			}
		}
	}
}

// readAll reads standard input, and reports whether its end was reached.
func (a *Asked) readAll(until time.Time) bool {
	a.read = make([]byte, 0, 8<<10)
	for len(a.read) < MaxRequest {
		left := time.Until(until)
		if left <= 0 {
			return false
		}
		wait := syscall.NsecToTimeval(int64(left))
		var set syscall.FdSet
		set.Bits[0] = 1
		switch n, err := syscall.Select(1, &set, nil, nil, &wait); {
		case err == syscall.EINTR:
			continue
		case err != nil || n == 0:
			return false
		}
		if len(a.read) == cap(a.read) {
			a.read = append(a.read, 0)[:len(a.read)]
		}
		n, err := syscall.Read(0, a.read[len(a.read):cap(a.read)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return false
		case n == 0:
			a.complete = true
			return true
		}
		a.read = a.read[:len(a.read)+n]
	}
	return false
}

// random returns 16 random bytes in hexadecimal digits.
func random() (text string, ok bool) {
	fd, err := syscall.Open("/dev/urandom", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer syscall.Close(fd)
	var b [16]byte
	n, err := syscall.Read(fd, b[:])
	const digits = "0123456789abcdef"
	hex := make([]byte, 0, 2*len(b))
	for _, x := range b {
		hex = append(hex, digits[x>>4], digits[x&15])
	}
	return string(hex), err == nil && n == len(b)
}
