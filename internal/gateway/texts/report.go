package texts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
)

// all are the sources that a complete request has all texts of.
const all = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults

// Report is the report of one request and its response. A nil Report does nothing.
type Report struct {
	Request
	tracker *Tracker

	done chan struct{} // closed by Add
	// Set by Add.
	branch *branch // nil in a named session
	lost   string  // the name of the conversation if texts are missing

	mu      sync.Mutex
	results []gate.Text // of the response, not added yet
	size    int
	ended   bool
}

// Add reports the texts of the request. It is called once, in any goroutine.
func (r *Report) Add(ctx context.Context) {
	if r == nil {
		return
	}
	defer close(r.done)
	defer func() { r.List = nil }() // it references the body of the request
	defer func() {
		if v := recover(); v != nil {
			r.lose(fmt.Errorf("panic: %v", v))
		}
	}()
	if err := r.add(ctx); err != nil {
		r.lose(err)
	}
}

func (r *Report) add(ctx context.Context) error {
	r.Unseen = r.hidden()
	keys, system := r.keys()
	chain := chains(responseKey(r.Continues), keys)
	known := mark{len(keys), chain[len(keys)], system}
	was, begun := r.place(chain)
	list := r.list(was, chain)
	complete := r.Continues == "" && len(r.Unseen) == 0
	err := r.give(ctx, list, complete && !begun)
	if complete && errors.Is(err, gate.ErrTextsLost) {
		err = r.give(ctx, r.list(mark{}, chain), true)
	}
	if err != nil {
		return err
	}
	if r.branch == nil {
		r.tracker.sessions.Put(r.Owner, known)
		return nil
	}
	r.branch.mark = known
	r.tracker.put(r, known.chain)
	return nil
}

// give passes texts to the gate.
func (r *Report) give(ctx context.Context, list []gate.Text, whole bool) error {
	t := gate.Texts{List: list, Whole: whole}
	if whole {
		t.Known = all
		if r.Delegated {
			t.Known &^= flow.KnowsUser
		}
	}
	return r.tracker.gate.AddTexts(ctx, r.Owner, r.conversation(), t)
}

// place finds the conversation, and the part of it that the gate has. begun is false for a new one.
func (r *Report) place(chain []Key) (m mark, begun bool) {
	if r.Named {
		return r.tracker.sessions.Get(r.Owner)
	}
	if r.branch = r.tracker.find(r, chain); r.branch != nil {
		return r.branch.mark, true
	}
	r.branch = &branch{id: rand.Text(), last: r}
	if r.Continues != "" { // by a response that this process does not know
		r.Known = false
	}
	return mark{}, false
}

// keys returns the keys of the texts that are not of the system, and the key of those that are.
func (r *Report) keys() (keys []Key, system Key) {
	for i := range r.List {
		t := &r.List[i]
		if t.Source == flow.System {
			system = KeyOf(string(system[:]), string(t.Key[:]))
			continue
		}
		keys = append(keys, t.Key)
	}
	return keys, system
}

// list returns the texts that are new after a mark.
func (r *Report) list(m mark, chain []Key) (list []gate.Text) {
	if m.texts >= len(chain) || chain[m.texts] != m.chain {
		m.texts = 0 // another history: all texts
	}
	_, system := r.keys()
	var same map[Key]int
	n := 0
	for i := range r.List {
		t := &r.List[i]
		var times int
		if t.Source == flow.User {
			if same == nil {
				same = map[Key]int{}
			}
			same[t.Key]++
			times = same[t.Key]
		}
		if t.Source == flow.System {
			if system == m.system {
				continue
			}
		} else if n++; n <= m.texts {
			continue
		}
		text, ok := t.Read()
		if !ok {
			continue
		}
		if t.Source == flow.User && times > 1 {
			text.Message.ID = "#" + strconv.Itoa(times)
		}
		list = append(list, text)
	}
	if r.Continues != "" && !r.Known {
		list = append(list, unseen("response "+r.Continues))
	}
	for _, id := range r.Unseen {
		list = append(list, unseen(id))
	}
	return list
}

// unseen is content that the model reads and the gate does not know. The same id is the same content.
func unseen(id string) gate.Text {
	return gate.Text{Result: &flow.Result{Data: []byte(id), Opaque: true}}
}

// Wait waits for Add, and returns the conversation of the request's calls.
func (r *Report) Wait() string {
	if r == nil {
		return ""
	}
	<-r.done
	return r.conversation()
}

// conversation names the conversation. One whose texts are not all known has a name without texts,
// so that conditions on origins are in doubt.
func (r *Report) conversation() string {
	switch {
	case r.lost != "":
		return r.lost
	case r.branch == nil:
		return ""
	}
	return r.branch.id
}

// lose records that the gate does not have all texts.
func (r *Report) lose(err error) {
	r.tracker.forget(r)
	r.lost = rand.Text()
	if r.Failed != nil {
		r.Failed("add texts", err)
	}
}
