package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Progress is a line on a terminal that shows how far a long operation is: "replaying 120000 of 1000000
// calls, 12 %". It appears after a second, on standard error only, and is gone when the operation ends.
// Without a terminal, and on one without cursor control, nothing is written. It is safe for concurrent
// use; the nil Progress shows nothing.
type Progress struct {
	out         io.Writer
	width       func() int
	verb, noun  string
	done, total atomic.Int64
	end         sync.Once
	stop, ended chan struct{}
}

// progressDelay is the time after which an operation is long, and progressEvery the time between changes
// of its line.
const (
	progressDelay = time.Second
	progressEvery = 250 * time.Millisecond
)

// StartProgress shows the progress of an operation until End. verb is what it does, "replaying", noun
// what it counts, "calls". total is 0 if it is not known.
func StartProgress(s Streams, verb, noun string, total int) *Progress {
	if Columns(s.Err) == 0 || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return startProgress(s.Err, func() int { return Columns(s.Err) }, verb, noun, total)
}

func startProgress(out io.Writer, width func() int, verb, noun string, total int) *Progress {
	p := &Progress{out: out, width: width, verb: verb, noun: noun, stop: make(chan struct{}), ended: make(chan struct{})}
	p.total.Store(int64(total))
	go p.run()
	return p
}

// Add counts n more.
func (p *Progress) Add(n int) {
	if p != nil {
		p.done.Add(int64(n))
	}
}

// Set sets both counts, for operations that report them.
func (p *Progress) Set(done, total int) {
	if p != nil {
		p.done.Store(int64(done))
		p.total.Store(int64(total))
	}
}

// End removes the line. It may be called more than once.
func (p *Progress) End() {
	if p != nil {
		p.end.Do(func() { close(p.stop) })
		<-p.ended
	}
}

// run writes the line until the end.
func (p *Progress) run() {
	defer close(p.ended)
	began, shown := time.Now(), 0
	timer := time.NewTimer(progressDelay)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			if shown > 0 {
				fmt.Fprint(p.out, "\r"+strings.Repeat(" ", shown)+"\r")
			}
			return
		case <-timer.C:
			text := p.line(time.Since(began))
			// Blanks remove the rest of a longer line, so that no escape is needed.
			fmt.Fprint(p.out, "\r"+text+strings.Repeat(" ", max(shown-len(text), 0)))
			shown = len(text)
			timer.Reset(progressEvery)
		}
	}
}

// line is the text, cut to the window.
func (p *Progress) line(took time.Duration) string {
	done, total := p.done.Load(), p.total.Load()
	text := fmt.Sprintf("%s %d %s", p.verb, done, p.noun)
	switch {
	case done == 0:
		text = fmt.Sprintf("%s %s, %d s", p.verb, p.noun, int(took.Seconds()))
	case total >= done:
		text = fmt.Sprintf("%s %d of %d %s, %d %%", p.verb, done, total, p.noun, 100*done/total)
	}
	return text[:min(len(text), max(p.width()-1, 0))]
}
