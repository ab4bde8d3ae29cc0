package tui

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/stopgate/stopgate/internal/agent"
)

// Messages of the event loop.
type (
	changed   struct{}        // the board, the questions or the time
	stopped   struct{ error } // the context has ended
	hungUp    struct{}        // the terminal was closed
	typedLine string          // at a terminal without cursor control
	printed   struct{}        // the last finished lines are on the screen
	returned  func()          // the editor has ended
	ticked    struct{}
)

// output is the state of the screen.
type output struct {
	stay     []string // finished lines that are not printed yet
	printing bool
	ticking  bool
	step     step // last printed step, without cursor control
	left     bool // the person leaves, or the only message was handled
	err      error
	more     chan struct{} // permits to read the next line
	idle     bool          // no line is being read
}

// step identifies a question and a step of its answer.
type step struct {
	question *agent.Question
	complete bool
	mode     mode
	at       int
}

// print adds finished lines.
func (o *output) print(lines ...string) { o.stay = append(o.stay, lines...) }

// leave ends the session when everything is printed.
func (o *output) leave(err error) { o.left, o.err = true, err }

// rest returns the lines that are not printed yet.
func (s *Session) rest() string {
	if len(s.stay) == 0 {
		return ""
	}
	text := strings.Join(s.stay, "\n") + "\n"
	s.stay = nil
	return text
}

// framesPerSecond is how often the screen is redrawn.
const framesPerSecond = 120

// New returns a session.
func New(o Options) *Session {
	s := &Session{Options: o, done: make(chan outcome, 1), output: output{more: make(chan struct{}, 1), idle: true}}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Saved == nil {
		s.Saved = func() int64 { return 0 }
	}
	// Signals end the context of the session, which belongs to the caller.
	options := []tea.ProgramOption{tea.WithOutput(s.Out), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond), tea.WithWindowSize(s.Style.Width, s.Style.Height)}
	switch {
	case !s.Style.Live:
		options = append(options, tea.WithInput(nil), tea.WithoutRenderer())
	case s.In == nil:
		options = append(options, tea.WithInput(nil))
	default:
		options = append(options, tea.WithInput(keyboard{s.In, s}))
	}
	s.program = tea.NewProgram(model{s}, options...)
	return s
}

// run runs the event loop until the session has ended.
func (s *Session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-ctx.Done():
				s.program.Send(stopped{context.Cause(ctx)})
				return
			case <-s.Board.wake:
			case <-s.Questions.Changed():
			}
			s.program.Send(changed{})
		}
	}()
	if !s.Style.Live && s.In != nil {
		go s.readLines()
	}
	_, err := s.program.Run()
	cancel()
	<-over
	if err == nil {
		err = s.err
	}
	return err
}

// keyboard is a terminal whose end is a message.
type keyboard struct {
	*os.File
	session *Session
}

// Read implements [io.Reader].
func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	k.session.received()
	if err != nil {
		go k.session.program.Send(hungUp{})
		err = io.EOF
	}
	return n, err
}

// received records that keys were read.
func (s *Session) received() { s.read.Store(time.Now().UnixNano()) }

// readLines reads lines. It does not read while a line is handled, so that an editor has the terminal
// for itself; it ends with the terminal, or with the process.
func (s *Session) readLines() {
	in := bufio.NewReader(s.In)
	for range s.more {
		line, err := in.ReadString('\n')
		if err != nil {
			s.program.Send(hungUp{})
			return
		}
		s.program.Send(typedLine(line))
	}
}

// editing is an editor that has the terminal. It implements [tea.ExecCommand].
type editing struct {
	run  func() error
	done func(error)
}

// Run implements [tea.ExecCommand]. It takes at least a frame: bubbletea stops its clock after it has
// given the terminal away, and would stop it for good if it were back by then.
func (e *editing) Run() error {
	frame := time.After(time.Second / framesPerSecond)
	err := e.run()
	<-frame
	return err
}

func (*editing) SetStdin(io.Reader)  {}
func (*editing) SetStdout(io.Writer) {}
func (*editing) SetStderr(io.Writer) {}

// model is the session as bubbletea sees it.
type model struct{ *Session }

// Init implements [tea.Model]. It delays output above the first view until that is drawn.
func (m model) Init() tea.Cmd {
	m.printing = m.Style.Live
	return tea.Tick(3*time.Second/framesPerSecond, func(time.Time) tea.Msg { return printed{} })
}

// Update implements [tea.Model].
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s := m.Session
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			s.Style.Width, s.Style.Height = msg.Width, msg.Height
		}
	case tea.KeyPressMsg:
		s.key(msg)
	case tea.PasteMsg:
		s.paste(msg.Content)
	case typedLine:
		s.idle = true
		s.command(string(msg))
	case printed:
		s.printing = false
	case returned:
		msg()
	case ticked:
		s.ticking = false
	case hungUp:
		s.leave(nil)
	case stopped:
		s.leave(msg.error)
	}
	select {
	case r := <-s.done:
		s.finish(r)
	default:
	}
	s.collect()
	s.refresh()
	if !s.Style.Live {
		return m, s.printStep()
	}
	return m, s.printAbove()
}

// reserve is the number of rows that the output in progress leaves free, and of lines that are printed
// above it at once: bubbletea needs a row for each.
func (s Style) reserve() int { return min(max(s.lines()/8, 1), 4) }

// printAbove prints finished lines above the output in progress, one command at a time: bubbletea
// keeps no order between commands.
func (s *Session) printAbove() tea.Cmd {
	switch {
	case s.printing:
	case len(s.stay) > 0:
		s.printing = true
		lines := s.Style.fit(s.stay)
		n := min(len(lines), s.Style.reserve())
		s.stay = lines[n:]
		return tea.Sequence(tea.Println(cmp.Or(strings.Join(lines[:n], "\n"), blank)), func() tea.Msg { return printed{} })
	case s.left:
		return tea.Quit
	case s.editor != nil:
		return s.openEditor()
	case s.isGuarded() && !s.ticking:
		s.ticking = true
		return tea.Tick(3*time.Second/framesPerSecond, func(time.Time) tea.Msg { return ticked{} })
	}
	return nil
}

// printStep prints finished lines, and each step of a question once.
func (s *Session) printStep() tea.Cmd {
	now := step{question: s.question, complete: s.shown.View.Complete, mode: s.mode}
	if s.offer != nil {
		now.at = s.offer.at
	}
	if s.question != nil && now != s.step {
		s.flush()
		lines, _ := s.asked()
		s.print(lines...)
	}
	s.step = now
	if _, err := io.WriteString(s.Out, s.rest()); err != nil {
		s.leave(err)
	}
	switch {
	case s.left:
		return tea.Quit
	case s.editor != nil:
		return s.openEditor()
	case s.idle:
		s.idle = false
		select {
		case s.more <- struct{}{}:
		default: // lines are not being read
		}
	}
	return nil
}

func (s *Session) openEditor() tea.Cmd {
	e := s.editor
	s.editor = nil
	return tea.Exec(e, func(err error) tea.Msg { return returned(func() { e.done(err) }) })
}

// blank is an empty line. bubbletea does not print "", and prints in the wrong row above a view "".
const blank = " "

// View implements [tea.Model].
func (m model) View() tea.View {
	s := m.Session
	if s.left || !s.Style.Live {
		return tea.NewView(blank)
	}
	lines, back := s.live()
	lines = s.Style.fit(lines)
	lines = lines[max(0, len(lines)-max(s.Style.lines()-s.Style.reserve(), 1)):]
	n := len(lines)
	if n == 0 {
		return tea.NewView(blank)
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = tea.NewCursor(max(cells(lines[n-1])-back, 0), n-1)
	return v
}
