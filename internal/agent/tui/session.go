package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
)

// Options configure a session. Agent, Board, Questions and Out are required.
type Options struct {
	Agent     *agent.Agent
	Board     *Board
	Questions *agent.QuestionQueue
	Tools     agent.Runner
	// In and Out are the terminal; without In the session only shows.
	In  *os.File
	Out io.Writer
	// Drain discards input that was typed and not read yet; it may be nil.
	Drain func()
	// Edit lets the person change a text in an editor; name is the name of the file.
	Edit  func(ctx context.Context, name, text string) (string, error)
	Style Style
	// Quiet shows only questions; events are shown elsewhere.
	Quiet bool
	// Greeting is printed at the start.
	Greeting []string
	// Empty is sent after an empty line before the first message.
	Empty string
	// Saved returns the number of bytes that the model did not have to generate since the start; it
	// may be nil.
	Saved func() int64
	// Listing describes the available tools; it may be nil.
	Listing func() []string
	// Rule returns the rule that would answer a question permanently; it may be nil.
	Rule func(v gate.View, g approve.Grant) Rule
	Now  func() time.Time
}

// Session connects an agent to a person at a terminal. Its state belongs to the event loop of
// program.
type Session struct {
	Options
	program     *tea.Program
	line        line
	ctx         context.Context
	cancel      context.CancelCauseFunc // nil: the person is next
	done        chan outcome
	once        bool
	total       agent.Summary
	began       time.Time
	saved       int64
	text        string // text of the model after its last line end
	gap         bool   // a blank line precedes the next output
	inReasoning bool
	asking      bool                     // a request was sent, and its answer has not begun
	ending      bool                     // interrupted once
	warned      bool                     // Ctrl-C on an empty line
	prompts     map[*agent.Question]bool // questions of this message
	calls       []agent.Call             // calls in progress

	question  *agent.Question
	shown     Asked
	mode      mode
	offer     *offer
	draft     string
	editor    *editing
	displayed time.Time    // when the question was displayed
	guarded   time.Time    // keys before this time are ignored
	typed     time.Time    // time of the last key
	read      atomic.Int64 // time of the last read of the terminal
	handled   int64        // the read of the last key

	numbers map[*agent.Question]int    // of the questions since none waited
	first   int                        // number of the first call then
	seen    map[*agent.Question]string // hash of the binding of complete questions at which a key was pressed
	chosen  *agent.Question            // question that the person asked for

	output
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

// Run runs the agent until the person leaves. first is the first message, "" to read it; with once
// it is the only one.
func (s *Session) Run(ctx context.Context, first string, once bool) (agent.Summary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.once = ctx, once
	s.print(s.Greeting...)
	if _, err := io.WriteString(s.Out, s.rest()); err != nil {
		return s.total, err
	}
	if first != "" || once {
		s.start(first)
	}
	err := s.run(ctx)
	if s.cancel != nil {
		s.cancel(agent.Interrupted())
		<-s.done
	}
	s.collect()
	s.flush()
	_, failed := io.WriteString(s.Out, s.rest())
	return s.total, errors.Join(err, failed)
}

// start runs the agent with a message.
func (s *Session) start(text string) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.cancel, s.ending, s.warned, s.began, s.prompts, s.saved = cancel, false, false, s.Now(), map[*agent.Question]bool{}, s.Saved()
	go func() {
		var r outcome
		// The terminal must be restored in any case.
		defer func() {
			if broken := recover(); broken != nil {
				r.err = fmt.Errorf("the agent panicked: %v\n%s", broken, debug.Stack())
			}
			cancel(nil)
			s.done <- r
			s.program.Send(changed{})
		}()
		r.sum, r.err = s.Agent.Process(ctx, text)
	}()
}

// finish shows the result of a message.
func (s *Session) finish(r outcome) {
	s.cancel, s.total = nil, r.sum
	s.collect()
	s.flush()
	s.asking = false
	if s.once {
		s.leave(r.err)
	}
	if s.Quiet {
		return
	}
	switch {
	case errors.Is(r.err, agent.Interrupted()):
		s.print(s.Style.paint(yellow, "interrupted: say what to do instead"))
	case r.err != nil:
		for _, line := range wrap(plainError(r.err), s.Style.columns()-2) {
			s.print(s.Style.paint(red, line))
		}
	case r.sum.Waits:
		s.print(s.Style.paint(yellow, "not run: say what to do instead"))
	}
	for _, l := range wrap(SummaryLine(r.sum, len(s.prompts), s.Saved()-s.saved, s.Now().Sub(s.began)), s.Style.columns()-1) {
		s.print(s.Style.paint(dim, l))
	}
	s.print("")
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
		s.numbers, s.seen, s.chosen = nil, nil, nil
		return
	}
	v, was := q.View(), s.shown.View
	s.shown.View, s.shown.Behind, s.shown.Fresh = v, behind, q.Fresh()
	if c, ok := s.Board.call(v.Proposal); ok {
		s.shown.Parameters = c.Parameters
	}
	if v.Complete && !was.Complete {
		s.shown.Parameters = agent.Parameters(v.Args)
		if s.Tools != nil && !v.OfResult {
			s.shown.Preview = s.Tools.Preview(v.Call.Tool, v.Args)
		}
		s.mode, s.offer = answering, nil
	}
}

// next returns the question of the first call. The questions of one response may arrive at the same
// time, in any order.
func (s *Session) next() (next *agent.Question, behind int) {
	list := s.Questions.Waiting()
	if s.chosen != nil && slices.Contains(list, s.chosen) {
		return s.chosen, len(list) - 1
	}
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
	s.displayed = time.Now()
	if s.Drain != nil {
		s.Drain()
	}
	now := s.Now()
	// A person who is typing has not read the question (H15).
	if now.Sub(s.typed) < idleTime {
		s.guarded = now.Add(idleTime)
	}
}

// isGuarded reports whether keys are ignored.
func (s *Session) isGuarded() bool { return s.question != nil && s.Now().Before(s.guarded) }

// plainError returns an error without the names of packages, safe to print.
func plainError(err error) string {
	return visible.Text(strings.TrimPrefix(err.Error(), "agent: "))
}
