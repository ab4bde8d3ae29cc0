package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
  a  run it, and do not ask again for this; a alone says what "this" would be
     a /path=src            the same for every path in the directory src
     a /command=git status  the same for every command that begins so
  e  change the arguments in an editor, then run that
  p  print everything in full
  s  put this question aside and show the next one
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
	deferred map[string]bool // questions that the person deferred

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
	s := &session{Terminal: t, queue: q, lists: make(chan []approve.Entry), lines: make(chan line), more: make(chan struct{}, 1), deferred: map[string]bool{}}
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

// next returns the oldest question that was not deferred, or the oldest if all were.
func (s *session) next() (approve.Entry, bool) {
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
	switch n := len(s.waiting) - 1; n {
	case 0:
	case 1:
		fmt.Fprintln(s.Out, "One more question waits.")
	default:
		fmt.Fprintf(s.Out, "%d more questions wait.\n", n)
	}
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
	if key == "y" || key == "a" && rest != "" {
		if why := s.tooEarly(); why != "" {
			return s.say("%s", why)
		}
	}
	switch {
	case key == "y" && rest == "":
		reply.Kind = approve.Yes
	case key == "n" && rest == "":
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
		s.deferred[e.ID] = true
		return false
	case key == "r":
		return s.say("Type the reason behind the r, on the same line.")
	case key == "?":
		fmt.Fprint(s.Out, help, "> ")
		return false
	default:
		return s.say("y, n, r, a, e, p, s or ?, then Enter. Nothing was answered.")
	}
	got, err := s.queue.Answer(ctx, e.ID, reply)
	if err != nil {
		return s.say("Not answered: %s.", message(err))
	}
	fmt.Fprintln(s.Out, confirmations[got.State])
	s.deferred[e.ID] = got.State == approve.Waiting // for others
	return true
}

// confirmations are the messages after an answer, by state.
var confirmations = map[approve.State]string{
	approve.Approved: "Approved: it runs, this once.",
	approve.Edited:   "Approved as changed: it runs if the policy agrees.",
	approve.Declined: "Denied: it does not run.",
	approve.Waiting:  "Approved by you: another person has to approve it, too.",
}

// always answers with a grant. Without a wider value it first shows the grant.
func (s *session) always(ctx context.Context, e approve.Entry, rest string) (done bool) {
	var scope approve.Scope
	switch pointer, text, ok := strings.Cut(rest, "="); {
	case rest == "":
		return s.say("%s would run without a question for %s, in this session, with the same values%s.\nType \"a yes\" to grant that, or wider \"a /path=DIRECTORY\" or \"a /command=WORDS\".",
			visible.Text(string(e.Tool)), frame.Span(approve.DefaultGrant), free(e))
	case rest == "yes":
	case ok:
		how := approve.Below
		for _, l := range e.Leaves {
			if l.Pointer == pointer && (l.Type == "command" || l.Type == "argv") {
				how = approve.Words
			}
		}
		scope.Wider = []approve.Value{{Pointer: pointer, How: how, Text: text}}
	default:
		return s.say("Type \"a yes\", \"a /path=DIRECTORY\" or \"a /command=WORDS\". Nothing was answered.")
	}
	got, g, err := s.queue.Grant(ctx, e.ID, approve.Reply{By: s.By, Via: approve.ViaTerminal, Seen: e.Binding.Hash()}, scope)
	if err != nil {
		return s.say("Not granted: %s.", message(err))
	}
	if got.State == approve.Waiting {
		s.deferred[e.ID] = true
		fmt.Fprintln(s.Out, confirmations[got.State])
		return true
	}
	fmt.Fprintf(s.Out, "Approved. Grant %s holds until %s; stopgate grants revoke %s takes it back.\n", g.ID, g.Expires.Local().Format("15:04"), g.ID)
	return true
}

// free names the values that the narrowest grant does not compare.
func free(e approve.Entry) string {
	var names []string
	for _, l := range e.Leaves {
		if approve.Content(l) {
			names = append(names, visible.Text(l.Pointer))
		}
	}
	if names == nil {
		return ""
	}
	return ", and anything in " + strings.Join(names, " and ")
}

func (s *session) say(format string, args ...any) bool {
	fmt.Fprintf(s.Out, format+"\n> ", args...)
	return false
}

// message returns the text of an error without the name of the package.
func message(err error) string {
	return visible.Text(strings.TrimPrefix(err.Error(), "approve: "))
}
