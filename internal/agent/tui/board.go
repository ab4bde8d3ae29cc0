package tui

import (
	"maps"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
)

// Board is an [agent.Watcher] that buffers events for the screen, so that the model's stream never
// waits for a terminal.
type Board struct {
	mu    sync.Mutex
	items []item
	calls map[int]agent.Call
	wake  chan struct{}
}

// item is an event to show once, in order.
type item struct {
	text     string
	thinking bool
	notice   bool
	call     *agent.Call // a call that has ended
	asked    bool        // a request was sent to the model
	answered bool
}

// NewBoard returns an empty board.
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

// addText appends a chunk to the current text.
func (b *Board) addText(piece string, thinking bool) {
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
func (b *Board) Text(piece string) { b.addText(piece, false) }

// Thinking implements [agent.Watcher].
func (b *Board) Thinking(piece string) { b.addText(piece, true) }

// Notice implements [agent.Watcher].
func (b *Board) Notice(text string) { b.add(item{text: text, notice: true}) }

// Call implements [agent.Watcher].
func (b *Board) Call(c agent.Call) {
	b.put(func() {
		if !c.Ended() {
			if _, known := b.calls[c.Number]; !known {
				b.items = append(b.items, item{answered: true}) // ends the text before the call
			}
			b.calls[c.Number] = c
			return
		}
		delete(b.calls, c.Number)
		b.items = append(b.items, item{call: &c})
	})
}

// drain returns the new items, and the calls in progress in order.
func (b *Board) drain() (items []item, calls []agent.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, b.items = b.items, nil
	for _, n := range slices.Sorted(maps.Keys(b.calls)) {
		calls = append(calls, b.calls[n])
	}
	return items, calls
}

// first returns the lowest number of the calls in progress, 0 if there are none.
func (b *Board) first() (number int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range b.calls {
		if number == 0 || n < number {
			number = n
		}
	}
	return number
}

// call finds a call in progress by its proposal.
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
