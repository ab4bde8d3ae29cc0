package usage

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// usage is one parsed usage.
type usage struct {
	elements    []element
	excluded    []string
	placeholder string // <root>, <below> or <local>, if it has one
	scripted    bool   // it has a <script>
	vital       bool   // it has a <system>
}

type elementKind uint8

const (
	oneWord elementKind = iota
	anyWords
	options
	runsCommand
	aPlaceholder
	aScript
	theSystem
)

type element struct {
	kind        elementKind
	glob        wordGlob
	options     []option
	placeholder string // of placeholder
}

// option is one permitted option.
type option struct {
	name  string
	glob  wordGlob // of names with wildcards, which match complete words
	wild  bool
	value *wordGlob // nil without a value
	runs  bool      // its value is a <command>
	root  bool      // its value is the <root>
}

// run is one attempt to match a command.
type run struct {
	usage *usage
	line  *shell.Line
	index int
	words []shell.Word
	where *Placeholders
	few   [64]uint64 // possible states before each of the first words
	more  []uint64   // and before the others
	last  int        // the last word before which a state is possible
	plain bool       // after "--"
}

// at returns the possible states before a word.
func (r *run) at(k int) *uint64 {
	if k < len(r.few) {
		return &r.few[k]
	}
	return &r.more[k-len(r.few)]
}

// reach adds possible states before a word.
func (r *run) reach(k int, states uint64) {
	*r.at(k) |= states
	r.last = max(r.last, k)
}

func (u *usage) grants(l *shell.Line, i int, where *Placeholders, names func() bool) bool {
	c := &l.Commands[i]
	if len(c.Words) > 1 && u.differs(&c.Words[1]) {
		return false
	}
	r := run{usage: u, line: l, index: i, words: c.Words, where: where}
	if n := len(c.Words) + 1 - len(r.few); n > 0 {
		r.more = make([]uint64, n)
	}
	r.reach(0, 1)
	for k := range c.Words {
		if r.last < k {
			return false
		}
		r.step(k)
	}
	for k := 1; k < len(c.Words); k++ {
		if u.excludes(c.Words[k].Text) {
			return false
		}
	}
	if last := len(u.elements) - 1; c.Open { // unknown words follow
		return u.close(*r.at(len(c.Words)))&(1<<last) != 0 && u.elements[last].kind == anyWords &&
			(u.anyOption(last) && !programs.TakesCode(c.Words[0].Text) || names != nil && names())
	}
	return u.close(*r.at(len(c.Words)))&(1<<len(u.elements)) != 0
}

// differs reports whether the word after the program is not the first that the usage wants there, as in
// most usages of a program with subcommands.
func (u *usage) differs(w *shell.Word) bool {
	if !w.Literal || len(w.Text) > 1 && w.Text[0] == '-' {
		return false
	}
	for i := range u.elements[1:] {
		switch e := &u.elements[i+1]; e.kind {
		case options:
		case oneWord:
			return !e.glob.match(w)
		default:
			return false
		}
	}
	return false
}

// anyOption reports whether state p permits every option.
func (u *usage) anyOption(p int) bool {
	for i := range p {
		for j := range u.elements[i].options {
			if o := &u.elements[i].options[j]; o.name == "-*" && o.value == nil && !o.runs && !o.root {
				return len(u.excluded) == 0
			}
		}
	}
	return false
}

// close adds the states that are reached without a word.
func (u *usage) close(states uint64) uint64 {
	for p := range u.elements {
		if k := u.elements[p].kind; states&(1<<p) != 0 && (k == options || k == anyWords) {
			states |= 1 << (p + 1)
		}
	}
	return states
}

// step reads one word.
func (r *run) step(k int) {
	u, w := r.usage, &r.words[k]
	states := u.close(*r.at(k))
	if states == 0 {
		return
	}
	if !w.Literal { // any number of operands
		for p := range u.elements {
			if states&(1<<p) != 0 && u.elements[p].kind == anyWords && (r.plain || !w.MayBeOption() || u.anyOption(p)) {
				r.reach(k+1, 1<<p)
			}
		}
		return
	}
	isOption := !r.plain && len(w.Text) > 1 && w.Text[0] == '-'
	for p := 0; p <= len(u.elements); p++ {
		if states&(1<<p) == 0 {
			continue
		}
		if isOption {
			r.option(k, p)
		}
		if p == len(u.elements) {
			break
		}
		switch e := &u.elements[p]; e.kind {
		case oneWord:
			if isOption && e.glob.option(w) || !isOption && e.glob.match(w) {
				r.reach(k+1, 1<<(p+1))
			}
		case anyWords:
			if !isOption {
				r.reach(k+1, 1<<p)
			}
		case runsCommand:
			if to := r.command(k); to > k {
				r.reach(to, 1<<(p+1))
			}
		case aScript:
			if !isOption && !effect.Fills(r.line, r.index, w.Text) && effect.Computes(r.words[0].Text, w.Text) {
				r.reach(k+1, 1<<(p+1))
			}
		case aPlaceholder:
			if r.names(e.placeholder, w) {
				r.reach(k+1, 1<<(p+1))
			}
		}
	}
	if string(w.Text) == "--" {
		r.plain = true
	}
}

// names reports whether a word certainly matches a placeholder.
func (r *run) names(placeholder string, w *shell.Word) bool {
	switch placeholder {
	case "<root>":
		return r.where.Root(&r.line.Commands[r.index], w)
	case "<below>":
		c := &r.line.Commands[r.index]
		return r.where.Below != nil && r.where.Below(c, w) &&
			(effect.Settled(r.line, r.index) || r.where.SameRepository != nil && effect.SettledInRepository(r.line) && r.where.SameRepository(c, w))
	case "<local>":
		return r.where.Local != nil && r.where.Local(w)
	}
	return false
}

// option reads an option that state p permits.
func (r *run) option(k, p int) {
	w := r.words[k].Text
	for i := range p {
		for j := range r.usage.elements[i].options {
			o := &r.usage.elements[i].options[j]
			switch {
			case o.wild:
				if o.glob.match(&r.words[k]) && string(w) != "--" {
					r.taken(k, p, o, nil, false)
				}
			case string(w) == o.name:
				r.taken(k, p, o, nil, false)
			case o.value != nil && len(o.name) > 2 && len(w) > len(o.name) && w[len(o.name)] == '=' && string(w[:len(o.name)]) == o.name:
				r.taken(k, p, o, w[len(o.name)+1:], true)
			}
		}
	}
	if len(w) > 2 && w[1] != '-' {
		r.cluster(k, p, w[1:])
	}
}

// taken moves on after an option and its value.
func (r *run) taken(k, p int, o *option, value []byte, attached bool) {
	switch {
	case o.runs:
		if to := r.command(k + 1); to > k+1 {
			r.reach(to, 1<<p)
		}
	case o.root:
		if !attached && k+1 < len(r.words) && r.names("<root>", &r.words[k+1]) {
			r.reach(k+2, 1<<p)
		}
	case o.value == nil:
		r.reach(k+1, 1<<p)
	case attached:
		if o.value.match(&shell.Word{Text: value}) {
			r.reach(k+1, 1<<p)
		}
	case k+1 < len(r.words):
		next := &r.words[k+1]
		if dash := len(next.Text) > 1 && next.Text[0] == '-'; next.Literal && (!dash || len(o.value.first) > 0 && o.value.first[0] == '-') && o.value.match(next) {
			r.reach(k+2, 1<<p)
		}
	}
}

// cluster reads -abc as -a -b -c; the last one may have a value.
func (r *run) cluster(k, p int, letters []byte) {
	for i := range letters {
		flag := false
		for e := range p {
			for j := range r.usage.elements[e].options {
				o := &r.usage.elements[e].options[j]
				if o.wild || len(o.name) != 2 || o.name[1] != letters[i] {
					continue
				}
				rest := letters[i+1:]
				switch {
				case o.value == nil && !o.runs && !o.root:
					flag = true
				case len(rest) > 0:
					r.taken(k, p, o, rest, true)
				default:
					r.taken(k, p, o, nil, false)
				}
			}
		}
		if !flag {
			return
		}
	}
	r.reach(k+1, 1<<p)
}

// command returns the index after the command that begins at a word, or that is the word's content,
// 0 if there is none.
func (r *run) command(k int) (to int) {
	for i := r.index + 1; i < r.line.Commands[r.index].End; i++ {
		if c := &r.line.Commands[i]; c.Parent == r.index && c.From == k {
			to = c.To
		}
	}
	return to
}

// excludes reports whether a word is an excluded option, or may be read as one.
func (u *usage) excludes(word []byte) bool {
	for _, name := range u.excluded {
		if len(word) < 2 || word[0] != '-' {
			continue
		}
		option, _, _ := bytes.Cut(word, []byte("="))
		switch {
		case strings.HasSuffix(name, "*"):
			if bytes.HasPrefix(word, []byte(name[:len(name)-1])) {
				return true
			}
		case strings.HasPrefix(name, "--"):
			if len(option) > 2 && strings.HasPrefix(name, string(option)) {
				return true
			}
		case len(name) == 2:
			if word[1] != '-' && bytes.IndexByte(word[1:], name[1]) >= 0 {
				return true
			}
		case string(option) == name || string(option) == "-"+name:
			return true
		}
	}
	return false
}

// suspects reports whether a command may follow the usage: any option may be anywhere, with or
// without a value. operands are the words after the one that names its program.
func (u *usage) suspects(program *Program, operands []shell.Word, system func(*shell.Word) bool) bool {
	states := u.close(1)
	skipped := uint64(0) // states in which the word may be an option's value
	for k := range len(operands) + 1 {
		w := &program.Word
		if k > 0 {
			w = &operands[k-1]
		}
		next := skipped
		isOption := k > 0 && len(w.Text) > 1 && w.Text[0] == '-'
		for p := range u.elements {
			if states&(1<<p) == 0 {
				continue
			}
			switch e := &u.elements[p]; {
			case e.kind == anyWords || e.kind == runsCommand:
				next |= 1<<p | 1<<(p+1)
			case e.kind == theSystem && k > 0 && !isOption && system(w):
				next |= 1 << (p + 1)
			case e.kind == oneWord && (k == 0 && e.glob.program(program) || k > 0 && e.glob.text(w.Text)):
				next |= 1 << (p + 1)
			}
		}
		skipped = 0
		if isOption {
			next |= states
			skipped = states
		}
		if states = u.close(next); states == 0 {
			return false
		}
	}
	return (states|skipped)&(1<<len(u.elements)) != 0
}
