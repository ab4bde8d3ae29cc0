package eval

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

// trie holds the pointers of a view's conditions, token by token.
type trie struct {
	id       int
	children map[string]*trie
	names    []string // of the children, as they were added
	star     *trie    // behind "*": the elements of an array
	conds    []int32  // conditions whose pointer ends here
	sites    []int32  // the site of each of them
}

// child returns the node behind a key.
func (t *trie) child(key string, ids *int) *trie {
	next := t.children[key]
	if next == nil {
		*ids++
		next = &trie{id: *ids}
		if t.children == nil {
			t.children = make(map[string]*trie)
		}
		t.children[key] = next
		t.names = append(t.names, key)
	}
	return next
}

// elements returns the node behind "*".
func (t *trie) elements(ids *int) *trie {
	if t.star == nil {
		*ids++
		t.star = &trie{id: *ids}
	}
	return t.star
}

// each calls f for every site at and below t.
func (t *trie) each(f func(site int32)) {
	if t == nil {
		return
	}
	for _, s := range t.sites {
		f(s)
	}
	t.below(f)
}

func (t *trie) below(f func(site int32)) {
	for _, name := range t.names {
		t.children[name].each(f)
	}
	t.star.each(f)
}

// thread is one way in which a value can be what a pointer means: the value stands
// at node. Several run side by side, because arrays are crossed whether the pointer
// says so or not (Q1, K22).
type thread struct {
	node *trie
	// flat: at least one array was crossed here; its elements are the leaves, so a
	// further array is no value of its own, and "*" has been decided.
	flat bool
	// generous: the way led through a value of the wrong type; only generous
	// conditions follow (B1).
	generous bool
	// deep: the value lies anywhere below one at node whose type is none that the
	// schema declares at origin.
	deep   bool
	origin *schema.Place
}

// idle reports that nothing can come of following the thread.
func (t thread) idle() bool {
	return !t.deep && len(t.node.conds) == 0 && len(t.node.children) == 0 && (t.flat || t.node.star == nil)
}

// stance is where a value stands: at a place of the schema and on threads of the
// pointers. Values of one stance have one shape.
type stance struct {
	place   *schema.Place
	threads []thread
	wrong   bool     // inside a value of the wrong type: only a match counts
	needs   textNeed // inherited from such a value
	listed  bool     // inside a value that a table declares without saying what is in it
}

// lists reports whether what is inside the value counts as declared.
func (st stance) lists() bool {
	return st.listed || st.place.Whole()
}

// key identifies a stance. places numbers the places.
func (st stance) key(places map[*schema.Place]int) string {
	var room [64]byte
	b := room[:0]
	number := func(p *schema.Place) {
		if p == nil {
			b = append(b, '-')
			return
		}
		n, ok := places[p]
		if !ok {
			n = len(places)
			places[p] = n
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	number(st.place)
	b = strconv.AppendBool(strconv.AppendInt(append(b, ':'), int64(st.needs), 10), st.wrong)
	if st.listed {
		b = append(b, 'l')
	}
	for _, t := range st.threads {
		b = strconv.AppendInt(append(b, '|'), int64(t.node.id), 10)
		for _, mark := range []struct {
			set bool
			c   byte
		}{{t.flat, 'f'}, {t.generous, 'g'}, {t.deep, 'd'}} {
			if mark.set {
				b = append(b, mark.c)
			}
		}
		number(t.origin)
	}
	return string(b)
}

// add appends a thread unless it is idle or there already.
func (st *stance) add(t thread) {
	if t.node == nil || t.idle() {
		return
	}
	for _, u := range st.threads {
		if u == t {
			return
		}
	}
	st.threads = append(st.threads, t)
}

// counts reports whether a condition looks at the number of elements.
func counts(k match.Kind) bool { return k == match.MinItems || k == match.MaxItems }
