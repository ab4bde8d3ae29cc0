// Package live is a stream of the events of a gate, in the memory of the process: for people who
// watch, for programs that react, and for publishers that forward it (V3-30).
//
//	s := live.New(live.Length)
//	g, err := gate.New(program, gate.WithTracer(s.Tracer()))
//	r := s.Read(live.Now)
//	e, lost, err := r.Next(ctx)
//
// Guarantees: writing never waits and never fails. The stream keeps its last events and drops the
// oldest; a slow reader learns how many it missed, and the stream counts them (FM3). The stream may
// lose events; the audit log does not. Events contain the content of records, that is hashes,
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

// Length is the default number of events that a stream keeps.
const Length = 4096

// Type is the kind of an event.
type Type string

// The types. Event rows of the audit log have the name of their event, such as asked,
// answered, result, reload or lockdown.
const (
	Decision Type = "decision" // a proposal was decided
	Policy   Type = "policy"   // an event policy emitted an event
	Missed   Type = "missed"   // events were dropped: a message of a transport, not of the stream
)

// Event is one event of a gate. Its JSON form changes only by addition.
type Event struct {
	// Seq is the position in the stream of the process, from 1 without gaps.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Type Type      `json:"type"`
	// Took is the time in seconds from the opening of a proposal to its end; Asked is the part of
	// it spent on questions.
	Took  float64 `json:"took,omitempty"`
	Asked float64 `json:"asked,omitempty"`
	// Record is the audit row of a decision or an event row, without its position in the chain.
	Record *stopgate.Record `json:"record,omitempty"`
	// Policy is the event of an event policy.
	Policy *PolicyEvent `json:"policy,omitempty"`
}

// PolicyEvent is an event that an event policy emitted (V3-04).
type PolicyEvent struct {
	Name     string             `json:"name"`     // of the policy
	Type     string             `json:"type"`     // of its event
	Summary  string             `json:"summary"`  // one line
	Severity string             `json:"severity"` // debug, info, warning or error
	Details  map[string]string  `json:"details,omitempty"`
	Session  stopgate.SessionID `json:"session,omitempty"`
}

// Stream keeps the events of a process. It is safe for concurrent use.
type Stream struct {
	mu      sync.Mutex
	ring    []Event
	next    uint64        // the Seq of the next event
	wake    chan struct{} // closed by the next event
	waiting bool          // a reader waits for wake
	lost    atomic.Uint64
	epoch   string
}

// New returns a stream that keeps up to length events.
func New(length int) *Stream {
	return &Stream{ring: make([]Event, max(length, 1)), next: 1, wake: make(chan struct{}), epoch: rand.Text()[:8]}
}

// Epoch identifies this stream: positions of a stream with another epoch, of an ended process, are
// not valid here.
func (s *Stream) Epoch() string { return s.epoch }

// Write adds an event. It sets Seq, and Time if it is zero. It never waits for a reader.
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

// Now is the position after the last event: a reader gets only later events.
const Now = ^uint64(0)

// Reader reads a stream. It is not safe for concurrent use.
type Reader struct {
	s  *Stream
	at uint64 // Seq of the next event to read
}

// Read returns a reader of the events after position seq that are still in the stream; 0 reads all
// of them.
func (s *Stream) Read(after uint64) *Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.next
	if after < s.next {
		at = max(after+1, s.oldest())
	}
	return &Reader{s, at}
}

// oldest returns the position of the oldest event. The caller holds s.mu.
func (s *Stream) oldest() uint64 {
	if n := uint64(len(s.ring)); s.next > n {
		return s.next - n
	}
	return 1
}

// Next waits for the next event and returns it, with the number of events missed before it. It
// fails only when ctx ends.
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

// take reads the next event, which exists. The caller holds the mutex of the stream.
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

// Batch waits for an event and returns it with the existing ones after it, at most as many as fit
// into dst's capacity.
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
