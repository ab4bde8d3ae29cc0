package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stopgate/stopgate/wire/jsonrpc"
	"github.com/stopgate/stopgate/wire/sse"
)

// stream reads a request's stream up to the response, and takes it up again where the
// server ends it before.
func (h *HTTP) stream(ctx context.Context, c *Call, resp *http.Response) (Reply, error) {
	at := position{pause: h.at.Pause}
	for n := 0; ; n++ {
		reply, err := h.read(resp, &at, c)
		if reply.Message != nil || err != nil && (errors.As(err, new(*Garbage)) || ctx.Err() != nil) {
			return reply, h.orNil(ctx, err)
		}
		if at.last == "" || n == resumptions || c.Version >= firstWithout {
			return Reply{}, fmt.Errorf("%w: its answer breaks off", ErrDead)
		}
		next, err := h.resume(ctx, c.Version, &at)
		if err != nil {
			return Reply{}, h.cause(ctx, err)
		}
		defer next.Body.Close()
		resp = next
	}
}

// position is where a stream can be taken up again.
type position struct {
	last  string
	pause time.Duration
}

// resume opens a stream behind the last event that was seen.
func (h *HTTP) resume(ctx context.Context, version string, at *position) (*http.Response, error) {
	wait := time.NewTimer(at.pause)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.at.URL, nil)
	if err != nil {
		return nil, err
	}
	h.dress(r, version)
	if at.last != "" {
		r.Header.Set("Last-Event-ID", at.last)
	}
	resp, err := h.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || mediaType(resp) != "text/event-stream" {
		resp.Body.Close()
		return nil, h.status(resp.StatusCode)
	}
	return resp, nil
}

// read reads the messages of one response. c is nil for the link's own stream. The
// reply is empty where the stream ends without it.
func (h *HTTP) read(resp *http.Response, at *position, c *Call) (Reply, error) {
	d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{MaxEvent: jsonrpc.MaxBytes})
	defer d.Close()
	var ev sse.Event
	for {
		n, err := resp.Body.Read(d.Space())
		d.Filled(n)
		for {
			ok, limit := d.Next(&ev)
			if limit != nil {
				return Reply{}, &Garbage{limit}
			}
			if !ok {
				break
			}
			at.note(ev.Raw)
			if !ev.Dispatched || len(ev.Type) > 0 && string(ev.Type) != "message" {
				continue
			}
			if len(bytes.TrimSpace(ev.Data)) == 0 {
				continue
			}
			m, bad := jsonrpc.Read(bytes.Clone(ev.Data))
			if bad != nil {
				if broken := new(jsonrpc.Error); c != nil && errors.As(bad, &broken) && broken.Method == "" && broken.ID == c.ID {
					return Reply{}, &Garbage{bad}
				}
				h.events.noise("an event that is no message")
				continue
			}
			switch {
			case m.Kind == jsonrpc.Request || m.Kind == jsonrpc.Notification:
				h.hand(m, c)
			case c != nil && m.ID == c.ID:
				return Reply{Message: m, Stream: true}, nil
			default:
				h.events.noise("a response to a request that was not sent")
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return Reply{}, err
		}
	}
}

// note takes an event's id and the pause that the server wants.
func (p *position) note(raw []byte) {
	for line := range bytes.Lines(raw) {
		line = bytes.TrimRight(line, "\r\n")
		if id, ok := bytes.CutPrefix(line, []byte("id:")); ok && bytes.IndexByte(id, 0) < 0 && len(id) <= 1024 {
			p.last = strings.TrimPrefix(string(id), " ")
		}
		if ms, ok := bytes.CutPrefix(line, []byte("retry:")); ok {
			if d, err := time.ParseDuration(strings.TrimSpace(string(ms)) + "ms"); err == nil && d >= 0 && d <= time.Minute {
				p.pause = d
			}
		}
	}
}

func (h *HTTP) hand(m *jsonrpc.Message, c *Call) {
	if c != nil && c.On != nil {
		c.On(m)
		return
	}
	h.events.stray(m)
}
