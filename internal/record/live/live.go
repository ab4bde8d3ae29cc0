// Package live is what happens in a gate, as it happens: a stream of events in the
// memory of the process, for people who watch, for programs that react, and for
// publishers that carry it elsewhere (V3-30).
//
//	s := live.New(live.Length)
//	g, err := gate.New(program, gate.WithTracer(s.Tracer()))
//	r := s.Read(live.Now)
//	e, lost, err := r.Next(ctx)
//
// What it promises: writing never waits and never fails. The stream keeps its last
// events and forgets the oldest; a reader that is too slow for it is told how many it
// missed, and the stream counts them (FM3). Nothing depends on the stream:
// what must not be lost is in the records. Events hold what records hold, hashes,
// lengths and codes, and no arguments.
package live

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
)

// Length is how many events a stream keeps where nobody says otherwise.
const Length = 4096

// Type says what an event is about.
type Type string

// The types. Event rows of the audit log have the name of their event, such as asked,
// answered, result, reload or lockdown.
const (
	Decision Type = "decision" // a proposal came to its end
	Policy   Type = "policy"   // an event policy said something
	Missed   Type = "missed"   // events were dropped: a message of a transport, not of the stream
)

// Event is something that happened. Its JSON form changes only by addition.
type Event struct {
	// Seq is the position in the stream, from 1 without gaps, for the life of the
	// process.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Type Type      `json:"type"`
	// Took is the time from the opening of a proposal to its end; Asked, the part of it
	// in which people were asked. In seconds.
	Took  float64 `json:"took,omitempty"`
	Asked float64 `json:"asked,omitempty"`
	// Record is the audit row without its place in the chain, of decisions and event
	// rows.
	Record *stopgate.Record `json:"record,omitempty"`
	// Said is what an event policy said.
	Said *Said `json:"policy,omitempty"`
}

// Said is an event that an event policy emitted (V3-04).
type Said struct {
	Name     string             `json:"name"`     // of the policy
	Type     string             `json:"type"`     // of its event
	Summary  string             `json:"summary"`  // one line
	Severity string             `json:"severity"` // debug, info, warning or error
	Details  map[string]string  `json:"details,omitempty"`
	Session  stopgate.SessionID `json:"session,omitempty"`
}

// Stream is the events of a process. Its methods may be used from several goroutines.
type Stream struct {
	mu      sync.Mutex
	ring    []Event
	next    uint64        // the Seq of the next event
	wake    chan struct{} // closed by the next event
	waiting bool          // somebody waits for wake
	lost    atomic.Uint64
	epoch   string
}

// New returns a stream that keeps up to length events.
func New(length int) *Stream {
	return &Stream{ring: make([]Event, max(length, 1)), next: 1, wake: make(chan struct{}), epoch: rand.Text()[:8]}
}

// Epoch is a word of this stream: positions in a stream with another one, of a process
// that ended, mean nothing here.
func (s *Stream) Epoch() string { return s.epoch }

// Write adds an event; Seq is set here, and Time if it is zero. It never waits for a
// reader.
func (s *Stream) Write(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Seq = s.next
	s.ring[e.Seq%uint64(len(s.ring))] = e
	s.next++
	if s.waiting {
		close(s.wake)
		s.wake, s.waiting = make(chan struct{}), false
	}
}

// Lost counts the events that readers missed because they were too slow.
func (s *Stream) Lost() uint64 { return s.lost.Load() }

// Now, as the position to read from, means that only what happens from here on counts.
const Now = ^uint64(0)

// Reader reads a stream. It belongs to one goroutine.
type Reader struct {
	s  *Stream
	at uint64 // the Seq it wants next
}

// Read returns a reader of what happened after the event with the position seq, as far
// as it is still kept; 0 for everything that is kept.
func (s *Stream) Read(after uint64) *Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.next
	if after < s.next {
		at = max(after+1, s.oldest())
	}
	return &Reader{s, at}
}

// oldest is the position of the oldest event that is kept; s.mu is held.
func (s *Stream) oldest() uint64 {
	if n := uint64(len(s.ring)); s.next > n {
		return s.next - n
	}
	return 1
}

// Next waits for the next event and returns it, with the number of events that were
// missed before it. The error is ctx's.
func (r *Reader) Next(ctx context.Context) (e Event, missed uint64, err error) {
	for {
		r.s.mu.Lock()
		if r.at < r.s.next {
			break
		}
		wake := r.s.wake
		r.s.waiting = true
		r.s.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return Event{}, 0, ctx.Err()
		}
	}
	defer r.s.mu.Unlock()
	return r.take()
}

// take reads an event that is there; the stream's mutex is held.
func (r *Reader) take() (e Event, missed uint64, err error) {
	if oldest := r.s.oldest(); r.at < oldest {
		missed = oldest - r.at
		r.s.lost.Add(missed)
		r.at = oldest
	}
	e = r.s.ring[r.at%uint64(len(r.s.ring))]
	r.at++
	return e, missed, nil
}

// Batch waits for an event and returns it with those behind it that are there already,
// no more than fit into dst's capacity.
func (r *Reader) Batch(ctx context.Context, dst []Event) (list []Event, missed uint64, err error) {
	e, missed, err := r.Next(ctx)
	if err != nil {
		return nil, missed, err
	}
	list = append(dst[:0], e)
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for len(list) < cap(list) && r.at < r.s.next {
		e, more, _ := r.take()
		missed += more
		list = append(list, e)
	}
	return list, missed, nil
}
