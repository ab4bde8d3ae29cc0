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

// Keyboard is the source of the person's input.
type Keyboard interface {
	// Keys returns the input, one read at a time. More starts the next read, so that an editor can
	// use the terminal in between.
	Keys() <-chan Keys
	More()
	// Drain discards input that was typed and not read yet.
	Drain()
	// Edit lets the person change a text in an editor; name is the name of the file.
	Edit(ctx context.Context, name, text string) (string, error)
	// Lines reports that input comes in lines, which the terminal echoes.
	Lines() bool
}

// Options configure a session. Agent, Board, Questions, Keyboard and Out are required.
type Options struct {
	Agent     *agent.Agent
	Board     *Board
	Questions *agent.QuestionQueue
	Tools     agent.Runner
	Keyboard  Keyboard
	Out       io.Writer
	Style     Style
	// Raw reports that the terminal adds no carriage returns.
	Raw bool
	// Quiet shows only questions; events are shown elsewhere.
	Quiet bool
	// Greeting is printed at the start.
	Greeting []string
	// Empty is printed after an empty line before the first message.
	Empty string
	// Size returns the columns and lines of the terminal; nil if they never change.
	Size func() (columns, lines int)
	// Saved returns the number of bytes that the model did not have to generate since the start; it
	// may be nil.
	Saved func() int64
	// Listing describes the available tools; it may be nil.
	Listing func() []string
	// Rule returns the rule that would answer a question permanently.
	Rule func(v gate.View, g approve.Grant) Rule
	Now  func() time.Time
}

// Session connects an agent to a person at a terminal.
type Session struct {
	Options
	screen  printer
	line    line
	ctx     context.Context
	cancel  context.CancelCauseFunc // nil: the person is next
	done    chan outcome
	began   time.Time
	saved   int64
	text    string // text of the model after its last line end
	gap     bool   // a blank line precedes the next output
	thought bool
	asking  bool                     // a request was sent and nothing was received yet
	ending  bool                     // interrupted once
	leaving bool                     // Ctrl-C on an empty line
	prompts map[*agent.Question]bool // questions of this prompt
	stay    []string

	question  *agent.Question
	shown     Asked
	mode      mode
	offer     *always
	draft     string
	displayed time.Time // when the question was displayed
	guarded   time.Time // keys before this time are ignored
	typed     time.Time // time of the last key
	drawn     time.Time
	urgent    bool // redraw without waiting for the next frame
}

// mode is the meaning of keys while a question is shown.
type mode uint8

const (
	answering mode = iota
	reasoning      // a reason is typed
	granting       // the grant is shown
	writing        // a change of the policy file is shown
)

type outcome struct {
	sum agent.Summary
	err error
}

// ErrLeft reports that the person left during an operation.
var ErrLeft = errors.New("left by the person")

// frame is the minimum time between redraws.
const frame = 33 * time.Millisecond

// Run runs the agent until the person leaves. first is the first message, "" to read it; with once
// it is the only one.
func (s *Session) Run(ctx context.Context, first string, once bool) (agent.Summary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.done = ctx, make(chan outcome, 1)
	s.screen = printer{out: s.Out, style: s.Style, raw: s.Raw}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Saved == nil {
		s.Saved = func() int64 { return 0 }
	}
	s.stay = append(s.stay, s.Greeting...)
	if first != "" || once {
		s.start(first)
	}
	if s.Keyboard != nil {
		s.Keyboard.More()
	}
	total, err := s.loop(once)
	if s.cancel != nil {
		s.cancel(agent.Interrupted())
		<-s.done
	}
	s.drain()
	s.flush()
	s.screen.draw(s.stay, nil, 0)
	if err == nil {
		err = s.screen.err
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
		case <-s.Questions.Changed():
		case <-later:
		case k := <-keys:
			s.urgent = true
			if leave, err := s.keys(k); leave {
				return total, err
			}
			s.Keyboard.More()
		case r := <-s.done:
			s.urgent, s.cancel, total = true, nil, r.sum
			s.finish(r)
			if once {
				return total, r.err
			}
		case <-s.ctx.Done():
			return total, context.Cause(s.ctx)
		}
	}
}

// start runs the agent with a message.
func (s *Session) start(text string) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.cancel, s.ending, s.leaving, s.began, s.prompts, s.saved = cancel, false, false, s.Now(), map[*agent.Question]bool{}, s.Saved()
	go func() {
		var r outcome
		// The terminal must be restored in any case.
		defer func() {
			if broken := recover(); broken != nil {
				r.err = fmt.Errorf("the agent broke: %v\n%s", broken, debug.Stack())
			}
			cancel(nil)
			s.done <- r
		}()
		r.sum, r.err = s.Agent.Process(ctx, text)
	}()
}

// finish shows the result of a message.
func (s *Session) finish(r outcome) {
	s.drain()
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

// SummaryLine summarises the result of a message.
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

// refresh updates the question.
func (s *Session) refresh() {
	q, behind := s.next()
	if q != s.question {
		s.display(q)
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

// next returns the question of the first call. The questions of one response may arrive at the same
// time, in any order.
func (s *Session) next() (next *agent.Question, behind int) {
	list := s.Questions.Waiting()
	first := 0
	for _, q := range list {
		if q == s.question && time.Since(s.displayed) > replaceWithin {
			return q, len(list) - 1 // the person is reading it
		}
		c, known := s.Board.call(q.View().Proposal)
		if next == nil || known && c.Number < first {
			next, first = q, c.Number
		}
	}
	return next, max(len(list)-1, 0)
}

// replaceWithin is the time within which a question may be replaced by one of an earlier call: too
// short for a person to read it.
const replaceWithin = 80 * time.Millisecond

// display shows another question, or none.
func (s *Session) display(q *agent.Question) {
	s.question, s.shown, s.mode, s.offer, s.draft = q, Asked{}, answering, nil, ""
	s.line.clear()
	if q == nil {
		return
	}
	if s.prompts != nil {
		s.prompts[q] = true
	}
	s.urgent, s.displayed = true, time.Now()
	v := q.View()
	if s.Keyboard != nil {
		s.Keyboard.Drain()
	}
	now := s.Now()
	// A person who is typing has not read the question (H15).
	if now.Sub(s.typed) < idleTime {
		s.guarded = now.Add(idleTime)
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

// isGuarded reports whether keys are ignored.
func (s *Session) isGuarded() bool { return s.question != nil && s.Now().Before(s.guarded) }

// idleTime is the time without a key before a key can answer a question.
const idleTime = 600 * time.Millisecond

// print writes the question once, on a screen without redrawing.
func (s *Session) print() {
	s.drain()
	s.flush()
	s.stay = append(s.stay, s.Style.Question(s.shown)...)
	s.stay = append(s.stay, s.Style.paint(bold, s.Style.Keys(s.shown.View, false)))
}

// plainError returns an error without the names of packages, safe to print.
func plainError(err error) string {
	return visible.Text(strings.TrimPrefix(err.Error(), "agent: "))
}
