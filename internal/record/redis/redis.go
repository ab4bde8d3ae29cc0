// Package redis publishes live events to Redis, or to a server with its protocol, and reads them
// there (V3-30, K0j).
//
//	p, err := redis.New(redis.Options{URL: "redis://127.0.0.1:6379"}, stream)
//	go p.Run(ctx)
//
// Every event is one JSON text. It is published on a channel and, if a stream is configured,
// appended to a stream of bounded length.
//
// Guarantees: a slow, absent or full server delays no decision. The queue is the live stream
// itself: events that it drops before they were sent are counted and announced. After a broken
// connection an event may arrive twice, with the same gate and seq, and unchanged. No decision
// reads from Redis.
package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stopgate/stopgate/internal/record/live"
)

// The defaults.
const (
	Channel      = "stopgate:events"
	StreamLength = 10_000
)

// Options configure a [Publisher].
type Options struct {
	// URL is the address of the server: redis://[USER:PASSWORD@]HOST:PORT/DB, rediss:// with TLS,
	// or unix://PATH.
	URL string
	// Channel is the channel of the events; "" is Channel.
	Channel string
	// Stream is the key of a stream to which events are appended; "" for none. It keeps about
	// StreamLength events; 0 is StreamLength.
	Stream       string
	StreamLength int64
	// Gate identifies this gate if several publish to one channel.
	Gate string
	// Changed is called with an error when the server becomes unreachable, and with nil when it is
	// reachable again. It may be nil.
	Changed func(error)
}

// Publisher sends the events of a stream to a server.
type Publisher struct {
	o         Options
	client    *redis.Client
	reader    *live.Reader
	published atomic.Int64
	dropped   atomic.Int64
	failures  atomic.Int64
	down      bool
}

// Message is the published form of an event.
type Message struct {
	Gate string `json:"gate,omitempty"`
	// Missed is the number of events dropped before this one; such a message has no event.
	Missed uint64 `json:"missed,omitempty"`
	live.Event
}

// New returns a publisher of the events of a stream from now on. It does not connect.
func New(o Options, s *live.Stream) (*Publisher, error) {
	client, err := newClient(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Channel == "" {
		o.Channel = Channel
	}
	if o.StreamLength <= 0 {
		o.StreamLength = StreamLength
	}
	return &Publisher{o: o, client: client, reader: s.Read(live.Now)}, nil
}

// CheckURL validates the URL of a server. Its error does not contain the URL, which may contain a
// password.
func CheckURL(text string) error {
	_, err := options(text)
	return err
}

func options(text string) (*redis.Options, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" && u.Scheme != "unix" {
		return nil, errors.New("want redis://HOST:PORT, rediss://HOST:PORT or unix://PATH")
	}
	o, err := redis.ParseURL(text)
	if err != nil {
		return nil, errors.New("the URL of the Redis server cannot be read")
	}
	return o, nil
}

// stepTimeout bounds every request to the server.
const stepTimeout = 2 * time.Second

func newClient(text string) (*redis.Client, error) {
	o, err := options(text)
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = stepTimeout, stepTimeout, stepTimeout
	o.MaxRetries = -1 // the publisher retries
	o.DialerRetries, o.PoolSize = 1, 1
	o.ContextTimeoutEnabled = true
	o.DisableIdentity, o.ClientName = true, "stopgate"
	redis.SetLogger(quiet{}) // the client logs to standard error by default; it returns its errors, too
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(o), nil
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// Stats are the counters of a publisher since its start.
type Stats struct {
	Published int64 // events that the server received
	Dropped   int64 // events that the stream dropped before they were sent
	Failures  int64 // failed attempts
}

// Stats returns the counters.
func (p *Publisher) Stats() Stats {
	return Stats{p.published.Load(), p.dropped.Load(), p.failures.Load()}
}

// The pause between two attempts, doubled after each.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// batch is how many events are sent at once.
const batch = 256

// Run sends events until ctx ends, then the remaining ones within a short time. It closes the
// connection.
func (p *Publisher) Run(ctx context.Context) error {
	buf := make([]live.Event, 0, batch)
	for {
		list, missed, err := p.reader.Batch(ctx, buf)
		if err != nil {
			return p.client.Close()
		}
		p.dropped.Add(int64(missed))
		texts := p.texts(list, missed)
		for pause := firstPause; ; pause = min(2*pause, lastPause) {
			err := p.send(ctx, texts)
			p.report(err)
			if err == nil {
				p.published.Add(int64(len(list)))
				break
			}
			p.failures.Add(1)
			if ctx.Err() != nil {
				p.dropped.Add(int64(len(list)))
				return p.client.Close()
			}
			wait := time.NewTimer(pause)
			select {
			case <-wait.C:
			case <-ctx.Done(): // one last attempt
				wait.Stop()
			}
		}
	}
}

// texts returns the messages of a batch.
func (p *Publisher) texts(list []live.Event, missed uint64) [][]byte {
	texts := make([][]byte, 0, len(list)+1)
	add := func(m Message) {
		if text, err := json.Marshal(m); err == nil {
			texts = append(texts, text)
		}
	}
	if missed > 0 {
		add(Message{Gate: p.o.Gate, Missed: missed, Event: live.Event{Seq: list[0].Seq, Time: list[0].Time, Type: live.Missed}})
	}
	for _, e := range list {
		add(Message{Gate: p.o.Gate, Event: e})
	}
	return texts
}

// send sends messages in one round trip.
func (p *Publisher) send(ctx context.Context, texts [][]byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	_, err := p.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, text := range texts {
			pipe.Publish(ctx, p.o.Channel, text)
			if p.o.Stream != "" {
				pipe.XAdd(ctx, &redis.XAddArgs{Stream: p.o.Stream, MaxLen: p.o.StreamLength, Approx: true, Values: []any{"event", text}})
			}
		}
		return nil
	})
	return err
}

// report calls Changed if the server has become reachable or unreachable.
func (p *Publisher) report(err error) {
	if down := err != nil; down != p.down && p.o.Changed != nil {
		if down {
			err = fmt.Errorf("redis: %w", err)
		}
		p.o.Changed(err)
	}
	p.down = err != nil
}
