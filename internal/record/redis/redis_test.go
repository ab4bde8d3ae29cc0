package redis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/live"
	"github.com/stopgate/stopgate/internal/record/redis"
	"github.com/stopgate/stopgate/internal/testkit/redistest"
)

// run publishes a stream until the test ends, or stop is called.
func run(t *testing.T, o redis.Options, s *live.Stream) (p *redis.Publisher, stop func()) {
	t.Helper()
	p, err := redis.New(o, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(stop)
	return p, stop
}

// messages collects what a watcher of a channel sees.
type messages struct {
	mu   sync.Mutex
	list []redis.Message
}

// watch watches a channel until the test ends; it returns once it receives messages.
func watch(t *testing.T, url, channel string) *messages {
	t.Helper()
	m := new(messages)
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- redis.Watch(ctx, url, channel, func() { close(ready) }, func(text []byte) error {
			var one redis.Message
			if err := json.Unmarshal(text, &one); err != nil {
				return err
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.list = append(m.list, one)
			return nil
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	return m
}

func (m *messages) all() []redis.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]redis.Message(nil), m.list...)
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func tool(n int) live.Event {
	return live.Event{Type: live.Decision, Record: &stopgate.Record{Tool: stopgate.ToolName(fmt.Sprint("t", n))}}
}

// The goroutine of the client that reconnects checks once a second whether the client was closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// Proves K0j, V3-30: events reach the channel and the stream of a real server, in order; the stream
// stays bounded, and the remaining events are sent at the end.
func TestPublish(t *testing.T) {
	server := redistest.Start(t)
	s := live.New(live.Length)
	p, stop := run(t, redis.Options{URL: server.URL(), Stream: "events", StreamLength: 100, Gate: "g1"}, s)
	seen := watch(t, server.URL(), "")
	const n = 1000
	for i := range n {
		s.Write(tool(i))
	}
	until(t, "all events", func() bool { return len(seen.all()) == n })
	for i, m := range seen.all() {
		if m.Gate != "g1" || m.Seq != uint64(i+1) || string(m.Record.Tool) != fmt.Sprint("t", i) {
			t.Fatalf("message %d: %+v", i, m)
		}
	}
	s.Write(tool(n))
	stop()
	if got := p.Stats(); got != (redis.Stats{Published: n + 1}) {
		t.Errorf("%+v", got)
	}
	client := server.Client()
	defer client.Close()
	last, err := client.XRevRangeN(t.Context(), "events", "+", "-", 1).Result()
	if err != nil || len(last) != 1 || !strings.Contains(fmt.Sprint(last[0].Values["event"]), fmt.Sprint(`"tool":"t`, n, `"`)) {
		t.Errorf("last of the stream: %v, %v", last, err)
	}
	if length := client.XLen(t.Context(), "events").Val(); length > 300 { // approximate: Redis removes full nodes
		t.Errorf("the stream has %d events", length)
	}
}

// Proves FM3: a server that is absent, restarts or does not answer delays no writer; events that it
// could not receive in time are dropped, counted and announced.
func TestBadServer(t *testing.T) {
	server := redistest.Start(t)
	var mu sync.Mutex
	var reported []string
	s := live.New(64)
	p, stop := run(t, redis.Options{URL: server.URL(), Stream: "events", Changed: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, fmt.Sprint(err == nil))
	}}, s)
	s.Write(tool(0))
	until(t, "the first event", func() bool { return p.Stats().Published == 1 })

	server.Stop()
	write := func(n int) {
		begin := time.Now()
		for i := range n {
			s.Write(tool(i))
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%d events took %v to write", n, took)
		}
	}
	write(1000)
	until(t, "a failure", func() bool { return p.Stats().Failures > 0 })
	write(1000)
	server.Start()
	until(t, "what was kept", func() bool { got := p.Stats(); return got.Published+got.Dropped == 2001 })
	list := kept(t, server, "events")
	var announced uint64
	for _, m := range list {
		announced += m.Missed
	}
	if got := p.Stats(); got.Dropped == 0 || announced != uint64(got.Dropped) || list[len(list)-1].Seq != 2001 {
		t.Errorf("%+v, announced %d, last %d", got, announced, list[len(list)-1].Seq)
	}

	server.Pause()
	failures := p.Stats().Failures
	write(1000)
	until(t, "a timeout", func() bool { return p.Stats().Failures > failures })
	server.Resume()
	until(t, "what was kept after the pause", func() bool { got := p.Stats(); return got.Published+got.Dropped == 3001 })
	stop()
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(reported, " "); got != "false true false true" {
		t.Errorf("reported %s", got)
	}
}

// kept returns the messages of a stream.
func kept(t *testing.T, server *redistest.Server, stream string) []redis.Message {
	t.Helper()
	client := server.Client()
	defer client.Close()
	entries, err := client.XRange(t.Context(), stream, "-", "+").Result()
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	list := make([]redis.Message, len(entries))
	for i, e := range entries {
		if err := json.Unmarshal([]byte(e.Values["event"].(string)), &list[i]); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// A server that never answers does not keep the process from ending.
func TestEndWithoutServer(t *testing.T) {
	s := live.New(8)
	p, stop := run(t, redis.Options{URL: "redis://127.0.0.1:1"}, s)
	s.Write(tool(1))
	until(t, "a failure", func() bool { return p.Stats().Failures > 0 })
	stop()
	if got := p.Stats(); got.Dropped != 1 || got.Published != 0 {
		t.Errorf("%+v", got)
	}
}

// URLs are validated before anything is sent, and never repeated in an error.
func TestURLs(t *testing.T) {
	for _, good := range []string{"redis://127.0.0.1:6379", "rediss://u:p@redis.example:6380/2", "unix:///run/redis.sock"} {
		if err := redis.CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "127.0.0.1:6379", "http://x", "redis://u:hunter2@h:1/notanumber", "redis://h:1/0?hunter2=1"} {
		err := redis.CheckURL(bad)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
		if _, err := redis.New(redis.Options{URL: bad}, live.New(1)); err == nil {
			t.Errorf("%s: a publisher", bad)
		}
	}
	if err := redis.Watch(t.Context(), "nonsense", "", nil, nil); err == nil {
		t.Error("watched nothing")
	}
	server := redistest.Start(t)
	s := live.New(8)
	run(t, redis.Options{URL: server.URL()}, s)
	broken := errors.New("enough")
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		ended <- redis.Watch(t.Context(), server.URL(), "", func() { close(ready) }, func([]byte) error { return broken })
	}()
	<-ready
	s.Write(tool(1))
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("watch ended with %v", err)
	}
}
