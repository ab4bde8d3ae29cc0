package learning

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/learn"
)

// person is the terminal of the person who chooses.
type person interface {
	io.Writer
	Line() (string, error)
	Drain()
}

const keys = "y yes  n no  d details  r narrower  w wider  a all that are left  q stop choosing"

// say writes text in lines that fit the window. Rules stay whole, so that they can be copied.
func say(out io.Writer, text string) error {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " "), "{ ") {
			line = cli.Fit(out, line)
		}
		b.WriteString(line)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// choose asks about each proposal, and then about the change of the file.
func (r *run) choose(t person) error {
	if err := say(t, r.summary()+r.list()); err != nil {
		return err
	}
	chosen, err := r.selected(t)
	if err != nil || len(chosen) == 0 {
		if err == nil {
			err = say(t, "Nothing was written.\n")
		}
		return err
	}
	c, err := r.prepare(chosen)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(t, "%s\nWrite this? Type yes: ", c.show()); err != nil {
		return err
	}
	t.Drain()
	if line, err := t.Line(); err != nil || line != "yes" {
		return errors.Join(errors.New("nothing was written"), err)
	}
	return c.write(t)
}

// selected returns the proposals that the person chooses.
func (r *run) selected(t person) (chosen []learn.Proposal, err error) {
	queue, all := slices.Clone(r.Proposals), false
	wider := map[string][]learn.Proposal{} // what a narrower one came from
	for len(queue) > 0 {
		p := queue[0]
		if all {
			chosen, queue = append(chosen, p), queue[1:]
			continue
		}
		if err := say(t, fmt.Sprintf("%s%s\n%s: ", r.short(p), keys, p.ID)); err != nil {
			return nil, err
		}
		t.Drain()
		line, err := t.Line()
		if err != nil {
			return nil, err
		}
		switch line {
		case "y":
			chosen, queue = append(chosen, p), queue[1:]
		case "n":
			queue = queue[1:]
		case "a":
			all = true
		case "q":
			return chosen, nil
		case "d":
			err = say(t, r.details(p))
		case "r":
			narrower := r.Narrower(p)
			if len(narrower) == 0 {
				err = say(t, "There is no narrower rule that the approvals are enough for.\n")
				break
			}
			for _, each := range narrower {
				wider[each.ID] = []learn.Proposal{p}
			}
			queue = append(narrower, queue[1:]...)
		case "w":
			if wider[p.ID] == nil {
				err = say(t, "The approvals and refusals permit no wider rule.\n")
				break
			}
			from := wider[p.ID][0]
			queue = append([]learn.Proposal{from}, slices.DeleteFunc(queue, func(q learn.Proposal) bool { return wider[q.ID] != nil && wider[q.ID][0].ID == from.ID })...)
		}
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}
