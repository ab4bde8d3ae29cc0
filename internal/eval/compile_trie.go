package eval

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// trie holds the pointers of a view's conditions, token by token.
type trie struct {
	id       int
	children map[string]*trie
	names    []string // children, in insertion order
	star     *trie    // after "*": the elements of an array
	conds    []int32  // conditions whose pointer ends here
	sites    []int32  // the site of each of them
}

// child returns the node after a key.
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

// elements returns the node after "*".
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

// thread is one way in which a value can match a pointer: the value is at node. Several threads
// exist at once, because arrays are crossed with or without "*" in the pointer (Q1, K22).
type thread struct {
	node *trie
	// flat: at least one array was crossed here; its elements are the leaves, so a further array is
	// no value of its own, and "*" has been resolved.
	flat bool
	// generous: the path includes a value of the wrong type; only generous conditions follow (B1).
	generous bool
	// deep: the value is anywhere below one at node, of a type that the schema does not declare at
	// origin.
	deep   bool
	origin *schema.Location
	// leaves: the value is below an object at node, of which conditions on the origin of values look
	// at every leaf.
	leaves bool
}

// idle reports whether no condition can follow the thread.
func (t thread) idle() bool {
	return !t.deep && len(t.node.conds) == 0 && len(t.node.children) == 0 && (t.flat || t.node.star == nil)
}

// walkState is a location of the schema and the threads of pointers that lead to a value. Values
// with the same walk state have the same shape.
type walkState struct {
	location *schema.Location
	threads  []thread
	wrong    bool     // in a value of the wrong type: only a match counts
	needs    textNeed // inherited from such a value
	listed   bool     // in a value that a table declares without a schema for its content
}

// lists reports whether the content of the value counts as declared.
func (st walkState) lists() bool {
	return st.listed || st.location.Complete()
}

// key identifies a walk state. locations numbers the locations.
func (st walkState) key(locations map[*schema.Location]int) string {
	var buf [64]byte
	b := buf[:0]
	number := func(p *schema.Location) {
		if p == nil {
			b = append(b, '-')
			return
		}
		n, ok := locations[p]
		if !ok {
			n = len(locations)
			locations[p] = n
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	number(st.location)
	b = strconv.AppendBool(strconv.AppendInt(append(b, ':'), int64(st.needs), 10), st.wrong)
	if st.listed {
		b = append(b, 'l')
	}
	for _, t := range st.threads {
		b = strconv.AppendInt(append(b, '|'), int64(t.node.id), 10)
		for _, mark := range []struct {
			set bool
			c   byte
		}{{t.flat, 'f'}, {t.generous, 'g'}, {t.deep, 'd'}, {t.leaves, 'o'}} {
			if mark.set {
				b = append(b, mark.c)
			}
		}
		number(t.origin)
	}
	return string(b)
}

// add appends a thread unless it is idle or already present.
func (st *walkState) add(t thread) {
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

// counts reports whether a condition applies to the number of elements.
func counts(k condition.Kind) bool { return k == condition.MinItems || k == condition.MaxItems }
