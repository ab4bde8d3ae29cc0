// Package redis carries live events to Redis, or to a server that speaks like it, and
// back to whoever watches there (V3-30, K0j).
//
//	p, err := redis.New(redis.Options{URL: "redis://127.0.0.1:6379"}, stream)
//	go p.Run(ctx)
//
// Every event is one JSON text, published on a channel and, where one is named, appended
// to a stream of bounded length.
//
// What it promises: a server that is slow, gone or full holds nothing up. The queue is
// the live stream itself: what it forgets before it was sent is counted and announced.
// An event may arrive twice after a broken connection, with the same gate and seq, and
// never changed. Nothing is read from Redis to decide anything.
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

// Options set up a [Publisher].
type Options struct {
	// URL is where the server is: redis://[USER:PASSWORD@]HOST:PORT/DB, rediss:// with
	// TLS, or unix://PATH.
	URL string
	// Channel is where events are published; "" is Channel.
	Channel string
	// Stream is the key of a stream that they are appended to; "" for none. It keeps
	// about StreamLength events; 0 is StreamLength.
	Stream       string
	StreamLength int64
	// Gate names this gate among several that publish to one channel.
	Gate string
	// Changed hears when the server cannot be reached, and with nil when it can again.
	// It may be nil.
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

// Message is an event as it is sent.
type Message struct {
	Gate string `json:"gate,omitempty"`
	// Missed is how many events were dropped before this one; there is no event then.
	Missed uint64 `json:"missed,omitempty"`
	live.Event
}

// New returns a publisher of what happens in a stream from now on. It does not connect.
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

// CheckURL reports what is wrong with the URL of a server. It never repeats the URL,
// which may hold a password.
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

// patience bounds every step with the server: it is a log, not a database.
const patience = 2 * time.Second

func newClient(text string) (*redis.Client, error) {
	o, err := options(text)
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = patience, patience, patience
	o.MaxRetries = -1 // the publisher repeats by itself
	o.DialerRetries, o.PoolSize = 1, 1
	o.ContextTimeoutEnabled = true
	o.DisableIdentity, o.ClientName = true, "stopgate"
	redis.SetLogger(quiet{}) // it writes to standard error by itself; errors come back anyway
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(o), nil
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// Stats are a publisher's numbers since its start.
type Stats struct {
	Published int64 // events that the server took
	Dropped   int64 // events that were forgotten before they could be sent
	Failures  int64 // attempts that failed
}

// Stats reports the numbers.
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

// Run sends events until ctx ends, and then what is left, for no longer than a moment.
// It closes the connection.
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
			p.tell(err)
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
			case <-ctx.Done(): // once more, and then no more
				wait.Stop()
			}
		}
	}
}

// texts are the messages for a batch.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
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

// tell tells of a server that cannot be reached, or can be again, once.
func (p *Publisher) tell(err error) {
	if down := err != nil; down != p.down && p.o.Changed != nil {
		if down {
			err = fmt.Errorf("redis: %w", err)
		}
		p.o.Changed(err)
	}
	p.down = err != nil
}
