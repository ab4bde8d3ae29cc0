package analysis

import "strings"

// contents finds, among conditions whose texts all have some literal in them, those that
// may hold for a text: it looks up every three bytes of the text.
type contents struct {
	by map[string][]entry // by three bytes of the literal
}

// gram is the length of the keys.
const gram = 3

// add adds a condition. It reports false if its literal is too short.
func (c *contents) add(e entry) bool {
	literal := e.condition.Set.Texts.Contains
	if len(literal) < gram {
		return false
	}
	if c.by == nil {
		c.by = make(map[string][]entry)
	}
	rarest := literal[:gram]
	for i := 1; i+gram <= len(literal); i++ {
		if key := literal[i : i+gram]; len(c.by[key]) < len(c.by[rarest]) {
			rarest = key
		}
	}
	c.by[rarest] = append(c.by[rarest], e)
	return true
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
