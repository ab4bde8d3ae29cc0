package match

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// administration reports the subcommands of stopgate that answer for a person or
// remove the gate (S4).
func administration(subcommand []byte) bool {
	switch string(subcommand) {
	case "approvals", "grants", "install", "uninstall", "sessions", "pin", "lockdown", "trust":
		return true
	}
	return false
}

// Command judges a command line: what administers stopgate, what configures git,
// and every word that may be a protected path. entry says what it touches.
func (p *Protected) Command(line []byte) (protection Protection, entry string) {
	v := new(Value)
	v.Reset(line)
	return p.JudgeCommand(v)
}

// JudgeCommand is Command for a value that matchers judge too.
func (p *Protected) JudgeCommand(v *Value) (protection Protection, entry string) {
	if !v.valid || len(v.text) > Budget {
		return UnknownTarget, tooManyReadings
	}
	lines := []*shell.Line{v.line()}
	if other := v.otherLine(); other != nil {
		lines = append(lines, other)
	}
	for _, l := range lines {
		if l.Excess && protection < UnknownTarget { // what was not looked at may touch it
			protection, entry = UnknownTarget, tooManyReadings
		}
		for i := range l.Commands {
			if q, e := p.command(v, &l.Commands[i], !l.Excess); q > protection {
				protection, entry = q, e
			}
		}
	}
	return protection, entry
}

// command judges one simple command. Every word counts, wherever it stands: who gives
// a protected path to a program means it. puts: files that are put into directories count
// too.
func (p *Protected) command(v *Value, c *shell.Command, puts bool) (protection Protection, entry string) {
	raise := func(q Protection, e string) {
		if q > protection {
			protection, entry = q, e
		}
	}
	path := func(text []byte, literal bool) (protection Protection, entry string) {
		place := &p.shell
		if literal {
			place = &p.literal
		}
		c.Candidates(text, func(text []byte) bool {
			if q, e := p.judgeFrom(v.word(text), place); q > protection {
				protection, entry = q, e
			}
			return true
		})
		return protection, entry
	}
	names := c.Plain && !c.Feeds && shell.ShowsNames(c.Program())
	var program string // stopgate or git, once it was named
	for i := range c.Words {
		word := c.Words[i].Text
		if len(word) == 0 {
			continue
		}
		name := shell.Base(word)
		switch {
		case bytes.EqualFold(name, []byte("stopgate")):
			program = "stopgate"
		case bytes.EqualFold(name, []byte("git")):
			program = "git"
		case program == "stopgate" && administration(word):
			raise(ProtectedDenied, "stopgate "+string(word))
		case program == "git" && string(word) == "config" && !readsConfig(c.Words[i+1:]):
			raise(ProtectedAsk, "git config")
		}
		if names && c.Words[i].Glob && !c.Words[i].Literal && !aimsAtDot(string(word)) {
			continue // "s*" may be stopgate.sock, but ls shows no more than "*" does
		}
		if word[0] != '-' {
			if q, e := path(word, c.Words[i].Literal); q != UnknownTarget || !looksUp(c, i) {
				raise(q, e)
			}
		} else if len(word) > 2 && bytes.ContainsAny(word, "./") { // -oFILE
			raise(path(word[2:], c.Words[i].Literal))
		}
		if at := bytes.IndexByte(word, '='); at >= 0 {
			raise(path(word[at+1:], c.Words[i].Literal))
		}
	}
	if puts && c.Puts() {
		raise(p.placed(v, c))
	}
	for i := range c.Redirects {
		raise(path(c.Redirects[i].Target.Text, c.Redirects[i].Target.Literal))
	}
	return protection, entry
}

// placed judges the files that a command puts into directories.
func (p *Protected) placed(v *Value, c *shell.Command) (protection Protection, entry string) {
	c.Placed(func(w *shell.Word, _ shell.Use, _ bool) bool {
		place := &p.shell
		if w.Literal {
			place = &p.literal
		}
		c.Candidates(w.Text, func(text []byte) bool {
			if q, e := p.judgeFrom(v.word(text), place); q > protection {
				protection, entry = q, e
			}
			return true
		})
		return true
	})
	return protection, entry
}

// readsConfig reports arguments of git config that only print.
func readsConfig(args []shell.Word) bool {
	if len(args) == 0 {
		return false
	}
	switch strings.TrimLeft(string(args[0].Text), "-") {
	case "get", "get-all", "get-regexp", "list", "l", "show-origin":
		return true
	}
	return false
}

// looksUp reports the name of a program that the shell looks for, wherever the command works.
func looksUp(c *shell.Command, i int) bool {
	return i == 0 && c.Words[0].Literal && bytes.IndexByte(c.Words[0].Text, '/') < 0
}

// UnknownPath says what is not known of a path that is an [UnknownTarget], [Known] where its
// length is the only reason.
func (p *Protected) UnknownPath(v *Value) Unknown {
	if !v.valid {
		return UnknownReading
	}
	return p.place.unknown(v)
}

// UnknownCommand says it of a command line.
func (p *Protected) UnknownCommand(v *Value) (unknown Unknown) {
	switch {
	case !v.valid:
		return UnknownReading
	case len(v.text) > Budget:
		return Known
	}
	for _, l := range []*shell.Line{v.line(), v.otherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			unknown |= UnknownCommand
		}
		for i := range l.Commands {
			c := &l.Commands[i]
			look := func(w *shell.Word) {
				c.Candidates(w.Text, func(text []byte) bool {
					unknown |= p.shell.unknown(v.word(text))
					return true
				})
			}
			for k := range c.Words {
				if !looksUp(c, k) {
					look(&c.Words[k])
				}
			}
			for k := range c.Redirects {
				look(&c.Redirects[k].Target)
			}
		}
	}
	return unknown
}
