package analysis

import "strings"

// contents finds, among conditions whose texts all have some literal in them, those that
// may hold for a text: it looks up every three bytes of the text.
type contents struct {
	by map[string][]entry // by three bytes of the literal
}

// gram is the length of the keys.
const gram = 3

// rarestOf is the key of a literal that has the fewest conditions, "" if the literal is too
// short.
func rarestOf(by map[string][]entry, literal string) string {
	if len(literal) < gram {
		return ""
	}
	rarest := literal[:gram]
	for i := 1; i+gram <= len(literal); i++ {
		if key := literal[i : i+gram]; len(by[key]) < len(by[rarest]) {
			rarest = key
		}
	}
	return rarest
}

// fewer reports whether a condition shares its key with fewer others here than its beginning.
func (c *contents) fewer(t *Texts, h *heads) bool {
	key := rarestOf(c.by, t.Contains)
	return key != "" && (t.Head == "" || len(c.by[key]) <= len(h.by[t.Head]))
}

func (c *contents) add(e entry) {
	if c.by == nil {
		c.by = make(map[string][]entry)
	}
	key := rarestOf(c.by, e.condition.Set.Texts.Contains)
	c.by[key] = append(c.by[key], e)
}

// find hands on the rules below a limit whose condition holds for a text, and whose literal
// is in the form of it that is given.
func (c *contents) find(v Value, form string, take func(int32, bool)) {
	for i := 0; i+gram <= len(form); i++ {
		for _, e := range c.by[form[i:i+gram]] {
			t := &e.condition.Set.Texts
			if (form == v.Text || t.CaseToo) && strings.Contains(form, t.Contains) && e.condition.Holds(v) {
				take(e.rule, true)
				break // the first of this key
			}
		}
	}
}

// heads finds, among conditions whose texts all begin with some literal, those that may hold
// for a text: it looks up the beginnings of the text.
type heads struct {
	by      map[string][]entry
	lengths []bool // which lengths the keys have
}

// form is the index of a set in the tables for texts as they are written (0) and without
// ASCII case (1).
func (t *Texts) form() int {
	if t.Folded {
		return 1
	}
	return 0
}

// add adds a condition. It reports false if no common beginning of its texts is known.
func (h *heads) add(e entry) bool {
	head := e.condition.Set.Texts.Head
	if head == "" {
		return false
	}
	if h.by == nil {
		h.by = make(map[string][]entry)
	}
	h.by[head] = append(h.by[head], e)
	for len(h.lengths) <= len(head) {
		h.lengths = append(h.lengths, false)
	}
	h.lengths[len(head)] = true
	return true
}

// find hands on the rules whose condition holds for a text that has a form.
func (h *heads) find(v Value, form string, take func(int32, bool)) {
	for n := 0; n <= len(form) && n < len(h.lengths); n++ {
		if !h.lengths[n] {
			continue
		}
		for _, e := range h.by[form[:n]] {
			if e.condition.Holds(v) {
				take(e.rule, true)
				break // the first with this beginning
			}
		}
	}
}

// keyed finds conditions by the keys of their texts.
type keyed struct {
	by  map[string]*sameKey
	all []entry
}

// sameKey is the conditions with one key: those of which every text with the key has a part, by
// three bytes of it, and the others.
type sameKey struct {
	parts map[string][]entry
	rest  []entry
}

func (k *keyed) add(e entry) {
	if k.by == nil {
		k.by = make(map[string]*sameKey)
	}
	t := &e.condition.Set.Texts
	for _, key := range t.Keys {
		same := k.by[key]
		if same == nil {
			same = &sameKey{parts: make(map[string][]entry)}
			k.by[key] = same
		}
		if part := rarestOf(same.parts, t.Part); part != "" {
			same.parts[part] = append(same.parts[part], e)
		} else {
			same.rest = append(same.rest, e)
		}
	}
	k.all = append(k.all, e)
}

// find hands on rules whose condition holds for a text, the first among them if it is one of
// those that were asked.
func (k *keyed) find(v Value, of func(string) (string, bool), take func(int32, bool)) {
	if len(k.all) == 0 {
		return
	}
	key, ok := of(v.Text)
	if !ok {
		takeFirst(k.all, v, take)
		return
	}
	same := k.by[key]
	if same == nil {
		return
	}
	takeFirst(same.rest, v, take)
	for i := 0; i+gram <= len(v.Text) && len(same.parts) > 0; i++ {
		for _, e := range same.parts[v.Text[i:i+gram]] {
			if strings.Contains(v.Text, e.condition.Set.Texts.Part) && e.condition.Holds(v) {
				take(e.rule, true)
				break
			}
		}
	}
}

// takeFirst hands on the first rule whose condition holds.
func takeFirst(list []entry, v Value, take func(int32, bool)) {
	for _, e := range list {
		if e.condition.Holds(v) {
			take(e.rule, true)
			return
		}
	}
}
