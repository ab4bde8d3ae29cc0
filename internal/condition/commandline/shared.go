package commandline

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// shared is what several conditions ask about the commands of one line: the positions at which a
// program may be named, the paths, the directories that are read completely. Each is listed once,
// when the first condition asks for it.
type shared struct {
	commands []commandForms
	sweeps   []effect.Sweep
	swept    listing
}

// commandForms is the part of one command.
type commandForms struct {
	beginnings []beginning
	begun      listing
	paths      []namedPath
	named      listing
}

// listing is the progress of a list.
type listing uint8

const (
	unlisted listing = iota
	complete
	partial // there are more elements than the limit of the list
)

// beginning is a position in a command at which a program may be named.
type beginning struct {
	program  usage.Program
	operands []shell.Word
}

// namedPath is a word that may name a file.
type namedPath struct {
	word       shell.Word
	use        effect.Use
	redirected bool
	// candidates are the path as written and, if it is relative, in each of the directories of the
	// command. there is the path in the directory in which the command works, nil if it is unknown.
	candidates []*condition.Value
	there      [1]*condition.Value
}

// Limits of the lists. A condition evaluates the elements of a longer one as they are found, without
// a list.
const (
	maxPaths  = 256 // of one command
	maxSweeps = 64  // of a line
	maxKept   = 64  // commands of which the lists are reused for the next line
)

// reset begins another line.
func (s *shared) reset() {
	if len(s.commands) > maxKept {
		s.commands = nil
	}
	s.commands, s.sweeps, s.swept = s.commands[:0], s.sweeps[:0], unlisted
}

// command returns the lists of a command.
func (s *shared) command(i int) *commandForms {
	for len(s.commands) <= i {
		if len(s.commands) == cap(s.commands) {
			s.commands = append(s.commands, commandForms{})
			continue
		}
		s.commands = s.commands[:len(s.commands)+1]
		f := &s.commands[len(s.commands)-1]
		f.beginnings, f.begun, f.paths, f.named = f.beginnings[:0], unlisted, f.paths[:0], unlisted
	}
	return &s.commands[i]
}

// shares returns the lists of one of the two lines of the value.
func (v *Value) shares(l *shell.Line) *shared {
	if l == &v.others {
		return &v.lists[1]
	}
	return &v.lists[0]
}

// beginnings returns the positions of a command at which a program may be named, at most
// [maxBeginnings], and less if their words exceed [maxBegun]. more is set if there are others.
func (v *Value) beginnings(l *shell.Line, i int) (list []beginning, more bool) {
	f := v.shares(l).command(i)
	if f.begun == unlisted {
		f.begun = complete
		eachBeginning(&l.Commands[i], func(first *shell.Word, operands []shell.Word) bool {
			if len(f.beginnings) == maxBeginnings || len(f.beginnings) > 0 && !v.affords(first, operands) {
				f.begun = partial
				return false
			}
			f.beginnings = append(f.beginnings, beginning{usage.ReadProgram(first), operands})
			return true
		})
	}
	return f.beginnings, f.begun == partial
}

// affords reports whether the words at another position are within [maxBegun].
func (v *Value) affords(first *shell.Word, operands []shell.Word) bool {
	v.begun += len(first.Text)
	for i := 0; i < len(operands) && v.begun <= maxBegun; i++ {
		v.begun += 1 + len(operands[i].Text)
	}
	return v.begun <= maxBegun
}

// paths returns the words of a command that may name a file, and the targets of its redirections. ok
// is false if there are more than a list takes: then [Value.eachPath] finds them.
func (v *Value) paths(l *shell.Line, i int) (list []namedPath, ok bool) {
	f := v.shares(l).command(i)
	if f.named != unlisted {
		return f.paths, f.named == complete
	}
	f.named = complete
	effect.Paths(&l.Commands[i], func(word *shell.Word, use effect.Use, redirected bool) bool {
		if len(f.paths) == maxPaths {
			f.named = partial
			return false
		}
		f.paths = append(f.paths, namedPath{word: *word, use: use, redirected: redirected})
		return true
	})
	if f.named == partial {
		return nil, false
	}
	for k := range f.paths {
		f.paths[k].locate(v, &l.Commands[i])
	}
	return f.paths, true
}

// eachPath calls yield for the same, without a list if they are too many, until yield returns false.
func (v *Value) eachPath(l *shell.Line, i int, yield func(*namedPath) bool) {
	list, ok := v.paths(l, i)
	if !ok {
		effect.Paths(&l.Commands[i], func(word *shell.Word, use effect.Use, redirected bool) bool {
			p := namedPath{word: *word, use: use, redirected: redirected}
			p.locate(v, &l.Commands[i])
			return yield(&p)
		})
		return
	}
	for k := range list {
		if !yield(&list[k]) {
			return
		}
	}
}

// locate finds the paths that the word may name from the directories in which its command may work.
func (p *namedPath) locate(v *Value, c *shell.Command) {
	if len(p.word.Text) == 0 {
		return
	}
	first := len(v.candidates)
	c.Candidates(p.word.Text, func(path []byte) bool {
		v.candidates = append(v.candidates, v.Word(path))
		return true
	})
	p.candidates = v.candidates[first:len(v.candidates):len(v.candidates)]
	if at, known := c.At(p.word.Text); known {
		p.there[0] = v.Word(at)
	}
}

// sweeps returns the directories that the line reads or renames completely. ok is false if there are
// more than a list takes: then [effect.Sweeps] finds them.
func (v *Value) sweeps(l *shell.Line) (list []effect.Sweep, ok bool) {
	s := v.shares(l)
	if s.swept == unlisted {
		s.swept = complete
		effect.Sweeps(l, func(found *effect.Sweep) bool {
			if len(s.sweeps) == maxSweeps {
				s.swept = partial
				return false
			}
			s.sweeps = append(s.sweeps, *found)
			return true
		})
	}
	return s.sweeps, s.swept == complete
}
