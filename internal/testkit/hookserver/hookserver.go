// Package hookserver lets tests play the server that hooks ask, byte by byte:
//
//	q, err := hookserver.Read(conn)
//	conn.Write(hookserver.Text(ask.Reply{Kind: ask.Answered}, q.Nonce))
package hookserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/stopgate/stopgate/internal/hook/ask"
)

// Read reads a request for an answer. A request for the status has no arguments.
func Read(c net.Conn) (*ask.Request, error) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return nil, err
	}
	q := &ask.Request{Nonce: r.Header.Get(ask.NonceHeader)}
	if q.Event, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	texts := func(name string) (list []string) {
		for _, v := range r.Header.Values(name) {
			text, bad := url.PathUnescape(v)
			if bad != nil {
				err = bad
			}
			list = append(list, text)
		}
		return list
	}
	q.Args, q.Env = texts(ask.ArgHeader), texts(ask.EnvHeader)
	for _, dir := range texts(ask.DirHeader) {
		q.Dir = dir
	}
	for _, spent := range texts(ask.SpentHeader) {
		q.Spent, err = time.ParseDuration(spent)
	}
	return q, err
}

// Text returns the response to a request with a nonce.
func Text(r ask.Reply, nonce string) []byte {
	head := fmt.Sprintf("%s: %s\r\n", ask.NonceHeader, nonce)
	switch r.Kind {
	case ask.Held:
		return []byte("HTTP/1.1 102 Processing\r\n" + head + "\r\n")
	case ask.Declined:
		return []byte("HTTP/1.1 501 Not Implemented\r\n" + head + "Content-Length: 0\r\n\r\n")
	}
	if r.Lenient {
		head += ask.LenientHeader + ": true\r\n"
	}
	text := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n%s: %d\r\n%s: %d\r\n\r\n", head, len(r.Out)+len(r.Err), ask.ExitHeader, r.Exit, ask.StdoutHeader, len(r.Out))
	return append(append(text, r.Out...), r.Err...)
}
