package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/frame"
	"github.com/stopgate/stopgate/internal/visible"
)

// Terminal is a terminal with a person. In and Out are usually the same device.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	// By is the name of the person for the record; required.
	By string
	// Drain discards input that was typed and not read yet; nil if that is not possible.
	Drain func()
	// Edit lets the person change a text in an editor; nil removes the key e.
	Edit func(ctx context.Context, text string) (string, error)
	Now  func() time.Time // nil is time.Now
}

const help = `Type a letter and press Enter.
  y  run it, this once
  n  do not run it
  r  do not run it, and tell the model why:  r use the test database
  a  run it, and do not ask again: lists what would not be asked again, and
     a 1                    chooses the first of the list
     a /path=src            the same for every path in the directory src
     a /command=git status  the same for every command that begins so
  e  change the arguments in an editor, then run that
  p  print everything in full
  s  put this question aside and show the next one
  2  show question 2 of those that wait; y 1 2 and n 1 2 answer both
  ?  this help; Ctrl-C leaves, and questions stay
`

// minReadingTime is how long a question must be shown before a yes is accepted: an earlier one was
// meant for the question before.
const minReadingTime = 400 * time.Millisecond

// line is one line of input, or the end of the input.
type line struct {
	text string
	err  error
	// question is the number of questions shown when the line was read.
	question int64
}

// session is one run of Serve.
type session struct {
	*Terminal
	queue    *approve.Queue
	lists    chan []approve.Entry
	lines    chan line
	more     chan struct{} // the last line was handled, and the next may be read
	waiting  []approve.Entry
	deferred map[string]bool   // questions that the person deferred
	numbers  map[string]int    // of all questions since the start
	seen     map[string]string // hash of the binding of a question that was shown in full
	chosen   string            // question that the person asked for
	offered  string            // question whose grants were listed

	shows  atomic.Int64 // number of questions shown
	since  time.Time    // when the last question was shown
	hidden bool         // some targets of the call are not on the screen
}

// Serve asks every question of the queue, the oldest first, until ctx or the input ends. While it
// runs the queue is reachable.
//
// A goroutine reads In. It ends with the first line after Serve returned, or with In. It does not
// read while a line is handled, so that an editor has the terminal for itself.
func (t *Terminal) Serve(ctx context.Context, q *approve.Queue) error {
	if t.By == "" {
		return approve.ErrNoName
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &session{Terminal: t, queue: q, lists: make(chan []approve.Entry), lines: make(chan line), more: make(chan struct{}, 1), deferred: map[string]bool{}, numbers: map[string]int{}, seen: map[string]string{}}
	watched := make(chan error, 1)
	go func() {
		watched <- q.Watch(ctx, func(list []approve.Entry) error {
			select {
			case s.lists <- list:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	go s.read(ctx)
	err := s.run(ctx, watched)
	cancel()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *session) read(ctx context.Context) {
	in := bufio.NewReader(s.In)
	for {
		text, err := in.ReadString('\n')
		select {
		case s.lines <- line{strings.TrimSpace(text), err, s.shows.Load()}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return
		}
	}
}

func (s *session) run(ctx context.Context, watched <-chan error) error {
	// Printed only after the first list arrived: from then on calls wait for this terminal.
	select {
	case s.waiting = <-s.lists:
	case err := <-watched:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	fmt.Fprintln(s.Out, "Waiting for questions. Ctrl-C leaves.")
	var shown approve.Entry // the question on the screen
	for {
		next, ok := s.next()
		switch {
		case !ok && shown.ID != "":
			fmt.Fprintln(s.Out, "\nThat question is answered or gone.")
			shown = approve.Entry{}
		case ok && (next.ID != shown.ID || next.Complete != shown.Complete):
			if shown.ID != "" && next.ID == shown.ID {
				fmt.Fprintln(s.Out, "\nThe arguments are complete now.")
			}
			shown = next
			s.show(shown, false)
		}
		select {
		case list := <-s.lists:
			s.waiting = list
		case l := <-s.lines:
			if l.err != nil {
				return l.err
			}
			if l.question != s.shows.Load() {
				s.say("That was typed before the question was there; nothing was answered.")
				s.more <- struct{}{}
				continue
			}
			if done := s.command(ctx, shown, l.text); done {
				s.forget(shown.ID)
				shown = approve.Entry{}
			}
			s.more <- struct{}{}
		case err := <-watched:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// next returns the question that the person has chosen, the oldest one that was not deferred, or the
// oldest if all were.
func (s *session) next() (approve.Entry, bool) {
	for _, e := range s.waiting {
		if e.ID == s.chosen {
			return e, true
		}
	}
	s.chosen = ""
	for pass := range 2 {
		for i := len(s.waiting) - 1; i >= 0; i-- {
			if e := s.waiting[i]; pass == 1 || !s.deferred[e.ID] {
				return e, true
			}
		}
		clear(s.deferred)
	}
	return approve.Entry{}, false
}

func (s *session) forget(id string) {
	for i, e := range s.waiting {
		if e.ID == id {
			s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
			return
		}
	}
}

func (s *session) show(e approve.Entry, all bool) {
	if s.Drain != nil {
		s.Drain()
	}
	s.shows.Add(1)
	s.since = s.Now()
	f := frame.Of(e, s.since, all)
	s.hidden = f.Hides
	if e.Complete && !f.Hides {
		s.seen[e.ID] = e.Binding.Hash()
	}
	fmt.Fprintf(s.Out, "\n%s", lines(f))
	keys := []string{"[n] no", "[r WHY] no, and say why", "[p] print in full", "[s] later", "[?] help"}
	if e.Complete {
		yes := []string{"[y] run it once", "[a] always"}
		if s.Edit != nil {
			yes = append(yes, "[e] edit")
		}
		keys = append(yes, keys...)
	}
	fmt.Fprintf(s.Out, "\n%s\n", strings.Join(keys, "  "))
	fmt.Fprint(s.Out, s.others(e))
	fmt.Fprint(s.Out, "> ")
}

// tooEarly returns the reason why a yes is not accepted yet, or "".
func (s *session) tooEarly() string {
	switch {
	case s.hidden:
		return "Not all of it is on the screen: p prints it in full. Nothing was answered."
	case s.Now().Sub(s.since) < minReadingTime:
		return "That was too quick for this question; nothing was answered."
	}
	return ""
}

// command executes a line. It reports whether the question is done.
func (s *session) command(ctx context.Context, e approve.Entry, text string) (done bool) {
	key, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if e.ID == "" {
		fmt.Fprintln(s.Out, "There is no question.")
		return false
	}
	reply := approve.Reply{By: s.By, Via: approve.ViaTerminal, Seen: e.Binding.Hash()}
	if other, ok := s.byNumber(text); ok {
		if s.chosen = other.ID; other.ID == e.ID {
			s.show(e, false)
		}
		return false
	}
	if key == "y" || key == "a" && rest != "" {
		if why := s.tooEarly(); why != "" {
			return s.say("%s", why)
		}
	}
	switch {
	case key == "y" && rest == "":
		reply.Kind = approve.Yes
	case key == "n" && rest == "":
	case (key == "y" || key == "n") && len(numbers(rest)) > 0:
		if key == "y" {
			reply.Kind = approve.Yes
		}
		s.several(ctx, reply.Kind, numbers(rest))
		return s.gone(e.ID)
	case key == "r" && rest != "":
		reply.Reason = rest
	case key == "a":
		return s.always(ctx, e, rest)
	case key == "e" && rest == "" && s.Edit != nil && e.Complete:
		args, err := s.Edit(ctx, e.Args)
		if err != nil {
			return s.say("Not edited: %v.", err)
		}
		reply.Kind, reply.Args = approve.With, []byte(args)
	case key == "p" && rest == "":
		s.show(e, true)
		return false
	case key == "s" && rest == "":
		s.deferred[e.ID], s.chosen = true, ""
		return false
	case key == "r":
		return s.say("Type the reason behind the r, on the same line.")
	case key == "?":
		fmt.Fprint(s.Out, help, "> ")
		return false
	default:
		return s.say("y, n, r, a, e, p, s, ? or a number, then Enter. Nothing was answered.")
	}
	got, err := s.queue.Answer(ctx, e.ID, reply)
	if err != nil {
		return s.say("Not answered: %s.", message(err))
	}
	fmt.Fprintln(s.Out, confirmations[got.State])
	s.deferred[e.ID] = got.State == approve.Waiting // for others
	return true
}

// numbers returns the numbers in a text, nil if it is anything else.
func numbers(text string) []string {
	list := strings.Fields(text)
	for _, word := range list {
		if strings.Trim(word, "0123456789") != "" {
			return nil
		}
	}
	return list
}

// gone reports whether a question no longer waits here.
func (s *session) gone(id string) bool {
	return !slices.ContainsFunc(s.waiting, func(e approve.Entry) bool { return e.ID == id })
}

// confirmations are the messages after an answer, by state.
var confirmations = map[approve.State]string{
	approve.Approved: "Approved: it runs, this once.",
	approve.Edited:   "Approved as changed: it runs if the policy agrees.",
	approve.Declined: "Denied: it does not run.",
	approve.Waiting:  "Approved by you: another person has to approve it, too.",
}

func (s *session) say(format string, args ...any) bool {
	fmt.Fprintf(s.Out, format+"\n> ", args...)
	return false
}

// message returns the text of an error without the name of the package.
func message(err error) string {
	return visible.Text(strings.TrimPrefix(err.Error(), "approve: "))
}
