package tui

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
)

// Plain is an [agent.Watcher] for programs and pipes: text of the model goes to Data, events of
// calls to Notes.
type Plain struct {
	Data, Notes io.Writer
	Style       Style

	mu      sync.Mutex
	midLine bool // the current line is not empty
}

var _ agent.Watcher = (*Plain)(nil)

// Asked implements [agent.Watcher].
func (p *Plain) Asked() {}

// Thinking implements [agent.Watcher]; reasoning is not part of the response.
func (p *Plain) Thinking(string) {}

// Text implements [agent.Watcher].
func (p *Plain) Text(piece string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(piece, "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(visible.Text(strings.ReplaceAll(l, "\t", "    ")), `\\`, `\`)
	}
	io.WriteString(p.Data, strings.Join(lines, "\n")) // a closed pipe ends the process
	p.midLine = lines[len(lines)-1] != "" || p.midLine && len(lines) == 1
}

// Answered implements [agent.Watcher].
func (p *Plain) Answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.midLine {
		io.WriteString(p.Data, "\n")
		p.midLine = false
	}
}

// Call implements [agent.Watcher].
func (p *Plain) Call(c agent.Call) {
	if c.Ended() {
		p.println(p.Style.Call(c)...)
	}
}

// Notice implements [agent.Watcher].
func (p *Plain) Notice(text string) { p.println(visible.Text(text)) }

func (p *Plain) println(lines ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.midLine {
		io.WriteString(p.Data, "\n")
		p.midLine = false
	}
	fmt.Fprintln(p.Notes, strings.Join(lines, "\n"))
}

// Both forwards events to two watchers.
type Both [2]agent.Watcher

// Asked implements [agent.Watcher], as the other methods do.
func (b Both) Asked()                { b[0].Asked(); b[1].Asked() }
func (b Both) Text(piece string)     { b[0].Text(piece); b[1].Text(piece) }
func (b Both) Thinking(piece string) { b[0].Thinking(piece); b[1].Thinking(piece) }
func (b Both) Answered()             { b[0].Answered(); b[1].Answered() }
func (b Both) Call(c agent.Call)     { b[0].Call(c); b[1].Call(c) }
func (b Both) Notice(text string)    { b[0].Notice(text); b[1].Notice(text) }
