package decide

import (
	"io"
	"net/http"
	"time"
)

// lingerTimeout limits how long the rest of a body is read after the decision.
const lingerTimeout = 2 * time.Second

// upload is the body of a streamed call while it arrives.
type upload struct {
	pieces  chan piece // closed after the last one
	stop    chan struct{}
	control *http.ResponseController
}

// piece is the result of one read of a body. Its data are valid until the next one is received.
type piece struct {
	data []byte
	err  error
}

// receive reads a body until its end, or until end is called.
func receive(in io.Reader, control *http.ResponseController) *upload {
	u := &upload{pieces: make(chan piece), stop: make(chan struct{}), control: control}
	go func() {
		defer close(u.pieces)
		var buffers [2][32 << 10]byte // one is read into while the other is evaluated
		for i := 0; ; i ^= 1 {
			n, err := in.Read(buffers[i][:])
			select {
			case u.pieces <- piece{buffers[i][:n], err}:
			case <-u.stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return u
}

// discard reads the rest of the body until the client ends it, for a limited time. A connection that
// is closed while the client still writes is reset, and a client that is reset loses the decision
// that it has not read yet. [net/http] waits for such clients, but not for those that expect
// 100-continue.
func (u *upload) discard() {
	if u.control.SetReadDeadline(time.Now().Add(lingerTimeout)) != nil {
		return // a channel without deadlines is in-process, and has nothing to reset
	}
	for range u.pieces {
	}
}

// end stops reading: a body must not be read after its handler returned. It has no effect after
// discard.
func (u *upload) end() {
	close(u.stop)
	select {
	case _, more := <-u.pieces:
		if !more {
			return
		}
	default:
	}
	if u.control.SetReadDeadline(time.Unix(1, 0)) != nil {
		return
	}
	for range u.pieces {
	}
}
