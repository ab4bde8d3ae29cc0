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

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// stream reads a request's stream up to the response. If the stream ends before it, stream
// resumes it.
func (h *HTTP) stream(ctx context.Context, c *Call, resp *http.Response) (Reply, error) {
	at := position{retryDelay: h.endpoint.RetryDelay}
	for n := 0; ; n++ {
		reply, err := h.read(resp, &at, c)
		if reply.Message != nil || err != nil && (errors.As(err, new(*InvalidResponseError)) || ctx.Err() != nil) {
			return reply, h.orNil(ctx, err)
		}
		if at.lastID == "" || n == maxResumptions || c.Version >= sessionless {
			return Reply{}, fmt.Errorf("%w: the stream ended before the response", ErrDead)
		}
		next, err := h.resume(ctx, c.Version, &at)
		if err != nil {
			return Reply{}, h.wrapError(ctx, err)
		}
		defer next.Body.Close()
		resp = next
	}
}

// position is the position at which a stream can be resumed.
type position struct {
	lastID     string
	retryDelay time.Duration
}

// resume opens a stream after the last event that was received.
func (h *HTTP) resume(ctx context.Context, version string, at *position) (*http.Response, error) {
	wait := time.NewTimer(at.retryDelay)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.endpoint.URL, nil)
	if err != nil {
		return nil, err
	}
	h.setHeaders(r, version)
	if at.lastID != "" {
		r.Header.Set("Last-Event-ID", at.lastID)
	}
	resp, err := h.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || mediaType(resp) != "text/event-stream" {
		resp.Body.Close()
		return nil, h.statusError(resp.StatusCode)
	}
	return resp, nil
}

// read reads the messages of one HTTP response. c is nil for the link's own stream. The
// reply is empty if the stream ends before the response.
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
				return Reply{}, &InvalidResponseError{limit}
			}
			if !ok {
				break
			}
			at.update(ev.Raw)
			if !ev.Dispatched || len(ev.Type) > 0 && string(ev.Type) != "message" {
				continue
			}
			if len(bytes.TrimSpace(ev.Data)) == 0 {
				continue
			}
			m, bad := jsonrpc.Read(bytes.Clone(ev.Data))
			if bad != nil {
				if broken := new(jsonrpc.Error); c != nil && errors.As(bad, &broken) && broken.Method == "" && broken.ID == c.ID {
					return Reply{}, &InvalidResponseError{bad}
				}
				h.events.dropped("the server sent an event that is not a message")
				continue
			}
			switch {
			case m.Kind == jsonrpc.Request || m.Kind == jsonrpc.Notification:
				h.deliver(m, c)
			case c != nil && m.ID == c.ID:
				return Reply{Message: m, Stream: true}, nil
			default:
				h.events.dropped("the server sent a response to an unknown request")
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

// update reads the id and the retry delay of an event.
func (p *position) update(raw []byte) {
	for line := range bytes.Lines(raw) {
		line = bytes.TrimRight(line, "\r\n")
		if id, ok := bytes.CutPrefix(line, []byte("id:")); ok && bytes.IndexByte(id, 0) < 0 && len(id) <= 1024 {
			p.lastID = strings.TrimPrefix(string(id), " ")
		}
		if ms, ok := bytes.CutPrefix(line, []byte("retry:")); ok {
			if d, err := time.ParseDuration(strings.TrimSpace(string(ms)) + "ms"); err == nil && d >= 0 && d <= time.Minute {
				p.retryDelay = d
			}
		}
	}
}

func (h *HTTP) deliver(m *jsonrpc.Message, c *Call) {
	if c != nil && c.OnMessage != nil {
		c.OnMessage(m)
		return
	}
	h.events.unsolicited(m)
}
