package otel

import (
	"context"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// queue holds spans for the exporter: a bounded queue of which the newest are dropped
// and counted, so that no goroutine of the gate ever waits.
type queue struct {
	exporter sdk.SpanExporter
	told     func(error)
	spans    chan sdk.ReadOnlySpan
	stop     chan struct{} // closed when nothing more comes
	ended    chan struct{} // closed when everything was sent

	exported, dropped, failed atomic.Int64
}

// The bounds of the queue, in spans, and how long one waits for others to go with.
const (
	queueLength = 4096
	batchLength = 256
	batchWait   = time.Second
)

var _ sdk.SpanProcessor = (*queue)(nil)

func newQueue(to sdk.SpanExporter, told func(error)) *queue {
	q := &queue{
		exporter: to, told: told, spans: make(chan sdk.ReadOnlySpan, queueLength), stop: make(chan struct{}), ended: make(chan struct{}),
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
		if q.told != nil {
			q.told(err)
		}
	} else {
		q.exported.Add(int64(len(batch)))
	}
	return batch[:0]
}

// Shutdown implements [sdk.SpanProcessor]: it waits until what is queued was sent, or
// ctx ends.
func (q *queue) Shutdown(ctx context.Context) error {
	close(q.stop)
	select {
	case <-q.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ForceFlush implements [sdk.SpanProcessor]. Nobody asks for it.
func (q *queue) ForceFlush(context.Context) error { return nil }
