package otel

import (
	"context"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// queue holds spans for the exporter. It is bounded: the newest spans are dropped and counted, so
// that no goroutine of the gate waits.
type queue struct {
	exporter sdk.SpanExporter
	onError  func(error)
	spans    chan sdk.ReadOnlySpan
	stop     chan struct{} // closed by Shutdown
	ended    chan struct{} // closed when all spans were sent

	exported, dropped, failed atomic.Int64
}

// Bounds of the queue and of a batch, in spans, and the time that a batch waits for more spans.
const (
	queueLength = 4096
	batchLength = 256
	batchWait   = time.Second
)

var _ sdk.SpanProcessor = (*queue)(nil)

func newQueue(to sdk.SpanExporter, onError func(error)) *queue {
	q := &queue{
		exporter: to, onError: onError, spans: make(chan sdk.ReadOnlySpan, queueLength), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go q.run()
	return q
}

// OnStart implements [sdk.SpanProcessor].
func (q *queue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements [sdk.SpanProcessor].
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	select {
	case q.spans <- s:
	default:
		q.dropped.Add(1)
	}
}

// run sends batches until the queue is stopped and empty.
func (q *queue) run() {
	defer close(q.ended)
	batch := make([]sdk.ReadOnlySpan, 0, batchLength)
	ticker := time.NewTicker(batchWait)
	defer ticker.Stop()
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) < batchLength {
				continue
			}
		case <-ticker.C:
		case <-q.stop:
			for more := true; more; {
				select {
				case s := <-q.spans:
					if batch = append(batch, s); len(batch) == batchLength {
						batch = q.export(batch)
					}
				default:
					more = false
				}
			}
			q.export(batch)
			return
		}
		batch = q.export(batch)
	}
}

func (q *queue) export(batch []sdk.ReadOnlySpan) []sdk.ReadOnlySpan {
	if len(batch) == 0 {
		return batch
	}
	ctx, cancel := context.WithTimeout(context.Background(), exportLimit)
	defer cancel()
	if err := q.exporter.ExportSpans(ctx, batch); err != nil {
		q.failed.Add(int64(len(batch)))
		if q.onError != nil {
			q.onError(err)
		}
	} else {
		q.exported.Add(int64(len(batch)))
	}
	return batch[:0]
}

// Shutdown implements [sdk.SpanProcessor]: it waits until the queued spans are sent or ctx ends.
func (q *queue) Shutdown(ctx context.Context) error {
	close(q.stop)
	select {
	case <-q.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ForceFlush implements [sdk.SpanProcessor] without effect.
func (q *queue) ForceFlush(context.Context) error { return nil }
