package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
)

// Keyboard is where the person types.
type Keyboard interface {
	// Keys gives what was typed, one read at a time. The next read begins with More, so
	// that an editor can have the terminal in between.
	Keys() <-chan Keys
	More()
	// Drain throws away what was typed and not read yet.
	Drain()
	// Edit lets the person change a text in an editor; name is the file's.
	Edit(ctx context.Context, name, text string) (string, error)
	// Lines reports that keys come a line at a time, and that the terminal shows them.
	Lines() bool
}

// Options make a session. Agent, Board, Desk, Keyboard and Out are required.
type Options struct {
	Agent    *agent.Agent
	Board    *Board
	Desk     *agent.Desk
	Tools    agent.Runner
	Keyboard Keyboard
	Out      io.Writer
	Style    Style
	// Raw says that the terminal adds no carriage returns.
	Raw bool
	// Quiet shows questions alone: what happens is told elsewhere.
	Quiet bool
	// Greeting stands above everything.
	Greeting []string
	// Empty is what an empty line says while nothing was said yet.
	Empty string
	// Size asks for the columns and lines of the terminal; nil where they do not change.
	Size func() (columns, lines int)
	// Saved counts the bytes that the model did not have to write, since the begin; nil
	// where nobody knows.
	Saved func() int64
	// Listing are the tools that there are, for a person; nil where nobody can say.
	Listing func() []string
	// Rule is the rule that would answer a question for good.
	Rule func(v gate.View, g approve.Grant) Rule
	Now  func() time.Time
}

// Session is a person at a terminal before an agent.
type Session struct {
	Options
	paper   paper
	line    line
	ctx     context.Context
	working context.CancelCauseFunc // nil: the person speaks
	done    chan said
	began   time.Time
	saved   int64
	text    string // of the model, behind its latest line end
	gap     bool   // a blank line belongs before what is said next
	thought bool
	asking  bool                     // the model is being asked, nothing came yet
	ending  bool                     // interrupted once
	leaving bool                     // Ctrl-C on an empty line
	prompts map[*agent.Question]bool // of this message
	stay    []string

	question *agent.Question
	shown    Asked
	mode     mode
	offer    *always
	draft    string
	posed    time.Time // when the question came onto the screen
	guarded  time.Time // keys before this time answer nothing
	typed    time.Time // of the latest key
	drawn    time.Time
	urgent   bool // what changed does not wait for the next frame
}

// mode is what keys mean while a question is shown.
type mode uint8

const (
	answering mode = iota
	reasoning      // a line is typed: why not
	granting       // the grant is shown
	writing        // a change of the policy file is shown
)

type said struct {
	sum agent.Summary
	err error
}

// ErrLeft says that the person left in the middle of something.
var ErrLeft = errors.New("left by the person")

// frame is how often what is under way is drawn again at most.
const frame = 33 * time.Millisecond

// Run shows the agent until the person leaves. first is his first message, "" to ask
// for it; with once it is the only one.
func (s *Session) Run(ctx context.Context, first string, once bool) (agent.Summary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.done = ctx, make(chan said, 1)
	s.paper = paper{out: s.Out, style: s.Style, raw: s.Raw}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Saved == nil {
		s.Saved = func() int64 { return 0 }
	}
	s.stay = append(s.stay, s.Greeting...)
	if first != "" || once {
		s.say(first)
	}
	if s.Keyboard != nil {
		s.Keyboard.More()
	}
	total, err := s.loop(once)
	if s.working != nil {
		s.working(agent.Interrupted())
		<-s.done
	}
	s.take()
	s.flush()
	s.paper.draw(s.stay, nil, 0)
	if err == nil {
		err = s.paper.err
	}
	return total, err
}

func (s *Session) loop(once bool) (total agent.Summary, err error) {
	var keys <-chan Keys
	if s.Keyboard != nil {
		keys = s.Keyboard.Keys()
	}
	var later <-chan time.Time
	for {
		s.refresh()
		if wait := frame - time.Since(s.drawn); s.urgent || wait <= 0 {
			s.show()
			later = nil
			if s.isGuarded() {
				later = time.After(frame)
			}
		} else if later == nil {
			later = time.After(wait)
		}
		select {
		case <-s.Board.wake:
		case <-s.Desk.Changed():
		case <-later:
		case k := <-keys:
			s.urgent = true
			if leave, err := s.keys(k); leave {
				return total, err
			}
			s.Keyboard.More()
		case r := <-s.done:
			s.urgent, s.working, total = true, nil, r.sum
			s.finish(r)
			if once {
				return total, r.err
			}
		case <-s.ctx.Done():
			return total, context.Cause(s.ctx)
		}
	}
}

// say starts the agent on a message.
func (s *Session) say(text string) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.working, s.ending, s.leaving, s.began, s.prompts, s.saved = cancel, false, false, s.Now(), map[*agent.Question]bool{}, s.Saved()
	go func() {
		var r said
		// The terminal is to be given back whatever happens.
		defer func() {
			if broken := recover(); broken != nil {
				r.err = fmt.Errorf("the agent broke: %v\n%s", broken, debug.Stack())
			}
			cancel(nil)
			s.done <- r
		}()
		r.sum, r.err = s.Agent.Say(ctx, text)
	}()
}

// finish says how a message ended.
func (s *Session) finish(r said) {
	s.take()
	s.flush()
	s.asking = false
	if s.Quiet {
		return
	}
	switch {
	case errors.Is(r.err, agent.Interrupted()):
		s.stay = append(s.stay, s.Style.paint(yellow, "interrupted: say what to do instead"))
	case r.err != nil:
		for _, line := range wrap(plainError(r.err), s.Style.columns()-2) {
			s.stay = append(s.stay, s.Style.paint(red, line))
		}
	case r.sum.Waits:
		s.stay = append(s.stay, s.Style.paint(yellow, "not run: say what to do instead"))
	}
	for _, l := range wrap(SummaryLine(r.sum, len(s.prompts), s.Saved()-s.saved, s.Now().Sub(s.began)), s.Style.columns()-1) {
		s.stay = append(s.stay, s.Style.paint(dim, l))
	}
	s.stay = append(s.stay, "")
}

// SummaryLine is one line about what a message led to.
func SummaryLine(sum agent.Summary, prompts int, saved int64, took time.Duration) string {
	parts := []string{count(sum.Calls, "call")}
	if sum.Calls > 0 {
		parts[0] += fmt.Sprintf(": %d ran, %d refused", sum.Ran, sum.Refused)
	}
	parts = append(parts, count(prompts, "prompt"))
	if sum.Stopped > 0 {
		stopped := fmt.Sprintf("the model was stopped %d times", sum.Stopped)
		if sum.Stopped == 1 {
			stopped = "the model was stopped once"
		}
		parts = append(parts, stopped)
	}
	if saved > 0 {
		parts = append(parts, size(saved)+" not generated")
	}
	if sum.Wasted > 0 {
		parts = append(parts, size(sum.Wasted)+" discarded")
	}
	if sum.TokensIn+sum.TokensOut > 0 {
		parts = append(parts, fmt.Sprintf("tokens %d in, %d out", sum.TokensIn, sum.TokensOut))
	}
	return "- " + strings.Join(append(parts, fmt.Sprintf("%.1f s", took.Seconds())), "; ")
}

// refresh brings the question up to date.
func (s *Session) refresh() {
	q, behind := s.next()
	if q != s.question {
		s.pose(q)
	}
	if q == nil {
		return
	}
	v := q.View()
	was := s.shown
	s.shown.View, s.shown.Behind, s.shown.Fresh = v, behind, q.Fresh()
	if c, ok := s.Board.call(v.Proposal); ok {
		s.shown.Parameters = c.Parameters
	}
	if v.Complete && !was.View.Complete {
		s.shown.Parameters, s.urgent = agent.Parameters(v.Args), true
		if s.Tools != nil && !v.OfResult {
			s.shown.Preview = s.Tools.Preview(v.Call.Tool, v.Args)
		}
		s.mode, s.offer = answering, nil
		if !s.Style.Live {
			s.print()
		}
	}
}

// next is the question to look at: that of the first call. Calls of one answer may ask
// at one moment, in any order.
func (s *Session) next() (next *agent.Question, behind int) {
	list := s.Desk.Waiting()
	first := 0
	for _, q := range list {
		if q == s.question && time.Since(s.posed) > settles {
			return q, len(list) - 1 // it is being read
		}
		c, known := s.Board.call(q.View().Proposal)
		if next == nil || known && c.Number < first {
			next, first = q, c.Number
		}
	}
	return next, max(len(list)-1, 0)
}

// settles is how long a question may be replaced by one of an earlier call: nobody has
// read it, let alone answered, within that time.
const settles = 80 * time.Millisecond

// pose puts another question on the screen, or none.
func (s *Session) pose(q *agent.Question) {
	s.question, s.shown, s.mode, s.offer, s.draft = q, Asked{}, answering, nil, ""
	s.line.clear()
	if q == nil {
		return
	}
	if s.prompts != nil {
		s.prompts[q] = true
	}
	s.urgent, s.posed = true, time.Now()
	v := q.View()
	if s.Keyboard != nil {
		s.Keyboard.Drain()
	}
	now := s.Now()
	// Who is typing something else has not read the question (H15).
	if now.Sub(s.typed) < guard {
		s.guarded = now.Add(guard)
	}
	if v.Complete || s.Style.Live {
		return // refresh shows it
	}
	s.shown.View = v
	if c, ok := s.Board.call(v.Proposal); ok {
		s.shown.Parameters = c.Parameters
	}
	s.print()
}

// isGuarded reports whether keys answer nothing yet.
func (s *Session) isGuarded() bool { return s.question != nil && s.Now().Before(s.guarded) }

// guard is how long nobody may have typed before a key answers a question.
const guard = 600 * time.Millisecond

// print writes the question once, where nothing can be drawn again.
func (s *Session) print() {
	s.take()
	s.flush()
	s.stay = append(s.stay, s.Style.Question(s.shown)...)
	s.stay = append(s.stay, s.Style.paint(bold, s.Style.Keys(s.shown.View, false)))
}

// plainError is an error without the names of packages, safe to print.
func plainError(err error) string {
	return visible.Text(strings.TrimPrefix(err.Error(), "agent: "))
}
