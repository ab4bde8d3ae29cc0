package tui

import (
	"maps"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
)

// Board is an [agent.Watcher] that keeps what happens until the screen takes it: the
// stream of the model never waits for a terminal.
type Board struct {
	mu    sync.Mutex
	items []item
	calls map[int]agent.Call
	wake  chan struct{}
}

// item is something that is to be shown once, in its order.
type item struct {
	text     string
	thinking bool
	notice   bool
	call     *agent.Call // one that has ended
	asked    bool        // the model is being asked
	answered bool
}

// NewBoard makes an empty board.
func NewBoard() *Board {
	return &Board{calls: map[int]agent.Call{}, wake: make(chan struct{}, 1)}
}

var _ agent.Watcher = (*Board)(nil)

func (b *Board) put(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *Board) add(i item) { b.put(func() { b.items = append(b.items, i) }) }

// say adds a piece to the text that is there.
func (b *Board) say(piece string, thinking bool) {
	b.put(func() {
		if n := len(b.items); n > 0 && b.items[n-1].text != "" && b.items[n-1].thinking == thinking && !b.items[n-1].notice {
			b.items[n-1].text += piece
			return
		}
		b.items = append(b.items, item{text: piece, thinking: thinking})
	})
}

// Asked implements [agent.Watcher].
func (b *Board) Asked() { b.add(item{asked: true}) }

// Answered implements [agent.Watcher].
func (b *Board) Answered() { b.add(item{answered: true}) }

// Text implements [agent.Watcher].
func (b *Board) Text(piece string) { b.say(piece, false) }

// Thinking implements [agent.Watcher].
func (b *Board) Thinking(piece string) { b.say(piece, true) }

// Notice implements [agent.Watcher].
func (b *Board) Notice(text string) { b.add(item{text: text, notice: true}) }

// Call implements [agent.Watcher].
func (b *Board) Call(c agent.Call) {
	b.put(func() {
		if !c.Ended() {
			if _, known := b.calls[c.Number]; !known {
				b.items = append(b.items, item{answered: true}) // what was said before stands above it
			}
			b.calls[c.Number] = c
			return
		}
		delete(b.calls, c.Number)
		b.items = append(b.items, item{call: &c})
	})
}

// take returns what is new, and the calls that are under way in their order.
func (b *Board) take() (items []item, calls []agent.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, b.items = b.items, nil
	for _, n := range slices.Sorted(maps.Keys(b.calls)) {
		calls = append(calls, b.calls[n])
	}
	return items, calls
}

// call finds the call of a proposal that is under way.
func (b *Board) call(id stopgate.ProposalID) (agent.Call, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if c.Proposal == id {
			return c, true
		}
	}
	return agent.Call{}, false
}
