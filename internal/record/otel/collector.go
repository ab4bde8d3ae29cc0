package otel

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// collector sends spans over OTLP/HTTP in protobuf, compressed. It implements
// [otlptrace.Client]; the client of the SDK would link gRPC, which it does not use.
// A batch is sent once, because newer spans are in the queue by the time of a second attempt.
type collector struct {
	endpoint
	client *http.Client
}

func newCollector(e endpoint) *collector {
	transport := &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: exportLimit}).DialContext, TLSHandshakeTimeout: exportLimit,
		ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, TLSClientConfig: e.tls,
	}
	return &collector{endpoint: e, client: &http.Client{Transport: transport, Timeout: exportLimit, CheckRedirect: refuseRedirect}}
}

// refuseRedirect fails for redirected requests, because spans and headers with keys must go only
// to the collector.
func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the collector answered %s, which is not followed", r.Response.Status)
}

// Start implements [otlptrace.Client]. It connects with the first batch.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// maxAnswer bounds the bytes that are read of an answer.
const maxAnswer = 64 << 10

// UploadTraces implements [otlptrace.Client]. It returns an error unless the collector accepted
// all spans.
func (c *collector) UploadTraces(ctx context.Context, spans []*trace.ResourceSpans) error {
	// A TracesData has the field of an ExportTraceServiceRequest, whose package links gRPC.
	text, err := proto.Marshal(&trace.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("marshal spans: %w", err)
	}
	var body bytes.Buffer
	zip := gzip.NewWriter(&body)
	_, _ = zip.Write(text) // a buffer does not fail
	_ = zip.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, &body)
	if err != nil {
		return err
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return fmt.Errorf("read the answer of the collector: %w", err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("the collector answered %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	if answer.Header.Get("Content-Type") != "application/x-protobuf" {
		return nil
	}
	return partial(text)
}

// partial returns an error if an ExportTraceServiceResponse reports rejected spans or a warning:
// its field 1 is a message with their number (1) and a text (2).
func partial(response []byte) error {
	var rejected uint64
	var reason []byte
	err := fields(response, func(n protowire.Number, success []byte, _ uint64) error {
		if n != 1 {
			return nil
		}
		return fields(success, func(n protowire.Number, text []byte, number uint64) error {
			switch n {
			case 1:
				rejected = number
			case 2:
				reason = text
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of the collector: %w", err)
	case rejected > 0 || len(reason) > 0:
		return fmt.Errorf("the collector rejected %d spans: %s", rejected, reason)
	}
	return nil
}

// fields calls yield with the fields of a message: their bytes, or their number if they are a varint.
func fields(message []byte, yield func(n protowire.Number, text []byte, number uint64) error) error {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		var text []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			text, size = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(message)
		default:
			size = protowire.ConsumeFieldValue(n, kind, message)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := yield(n, text, number); err != nil {
			return err
		}
		message = message[size:]
	}
	return nil
}
