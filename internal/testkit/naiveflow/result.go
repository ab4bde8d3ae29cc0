package naiveflow

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
)

// result reads a result: its texts are the leaves and the keys of its structure, or its plain text,
// and the texts of labels.
func (v *View) result(i int, e *Event) {
	echo := echoOf(e)
	add := func(text string, sources, may []string) {
		seen, hidden := visible(text)
		v.add(&piece{event: i, text: seen, sources: append(sources, "tool"), may: append(may, sources...), result: true, echo: echo})
		for _, h := range hidden {
			v.add(&piece{event: i, text: h, sources: []string{"tool", "hidden"}, may: append(may, sources...), result: true, hidden: true, echo: echo})
		}
	}
	if e.Opaque {
		named := []string(nil)
		for k := range v.Policy.Sources {
			if s := &v.Policy.Sources[k]; e.Tool == "" || s.names(e.Tool) && !s.excludes(parse(e.Args)) {
				named = append(named, s.Name)
			}
		}
		v.add(&piece{event: i, sources: []string{"tool"}, may: named, result: true, opaque: true, echo: echo})
	}
	doc := parse(e.Text)
	parts := partsOf(doc, e.Text)
	loose := v.classify(i, e, doc, parts, false)
	sure := &classes{}
	if v.trustworthy(i, e) {
		sure = v.classify(i, e, doc, parts, true)
	}
	for _, p := range parts {
		sources := sure.of(p)
		if len(sources) > 0 && !v.unwritten(i, p.text) {
			sources = nil
		}
		add(p.text, sources, loose.of(p))
	}
	for _, l := range loose.labels {
		if slices.Contains(sure.labels, l) && v.unwritten(i, l.text) {
			add(l.text, []string{l.source}, nil)
		} else {
			add(l.text, nil, []string{l.source})
		}
	}
}

// part is a leaf or a key of a structured result, or the whole of another one.
type part struct {
	node *node
	key  bool
	text string
}

func partsOf(doc *node, text string) (parts []*part) {
	if !doc.structured() {
		if doc != nil && doc.kind == 's' {
			text = doc.text
		}
		return []*part{{text: text}}
	}
	found, _ := doc.leaves()
	for _, n := range found {
		parts = append(parts, &part{node: n, text: n.text})
	}
	for _, o := range doc.objects() {
		for _, m := range o.members {
			parts = append(parts, &part{node: m, key: true, text: m.label})
		}
	}
	return parts
}

func echoOf(e *Event) (texts []string) {
	if args := parse(e.Args); args != nil {
		found, _ := args.leaves()
		for _, n := range found {
			texts = append(texts, n.text)
		}
	}
	return texts
}

// classes are the sources of the parts of a result.
type classes struct {
	parts  map[*part][]string
	whole  []string // of any part
	labels []labelled
}

type labelled struct{ source, text string }

func (c *classes) of(p *part) []string { return append(slices.Clone(c.whole), c.parts[p]...) }

// has reports whether a value is a text of one of the sources in this same result.
func (c *classes) has(value string, from []string) Answer {
	best := No
	note := func(text string) {
		if folded(text) == folded(value) {
			best = Yes
		} else if strings.Contains(folded(text), folded(value)) {
			best = max(best, Either)
		}
	}
	for p, sources := range c.parts {
		if slices.ContainsFunc(sources, func(s string) bool { return slices.Contains(from, s) }) {
			text := p.text
			if a, err := mail.ParseAddress(text); err == nil {
				text = a.Address
			}
			note(text)
		}
	}
	for _, l := range c.labels {
		if slices.Contains(from, l.source) {
			note(l.text)
		}
	}
	return best
}

func (s *Source) names(tool string) bool {
	return slices.ContainsFunc(s.Tools, func(name string) bool {
		stem, glob := strings.CutSuffix(name, "*")
		return name == tool || glob && strings.HasPrefix(tool, stem)
	})
}

// trustworthy reports whether a result can have certain sources at all.
func (v *View) trustworthy(i int, e *Event) bool {
	again := slices.ContainsFunc(v.Events[:i], func(o Event) bool {
		return o.Kind == "result" && !o.Opaque && o.Call == e.Call && o.Tool == e.Tool && o.Args == e.Args && e.Call != "" && v.counted(&o)
	})
	return v.counted(e) && !again && v.unread(i, e)
}

// counted reports whether the result is of a call that ran, of a tool that only reads.
func (v *View) counted(e *Event) bool {
	return e.Tool != "" && e.Released && !e.Failed && !v.Policy.Effects[e.Tool] && parse(e.Args) != nil
}

// classify evaluates the definitions on a result, for certain or not.
func (v *View) classify(i int, e *Event, doc *node, parts []*part, sure bool) *classes {
	c := &classes{parts: map[*part][]string{}}
	args := parse(e.Args)
	for k := range v.Policy.Sources {
		s := &v.Policy.Sources[k]
		if sure && !slices.Contains(s.Tools, e.Tool) && !v.Policy.Tables[e.Tool] || !s.names(e.Tool) && (sure || e.Tool != "") {
			continue
		}
		if unknown := e.Tool == "" || args == nil; !(unknown && !sure) && !v.needs(i, e, c, s.Asked, args, sure) {
			continue
		}
		v.cover(i, e, s, c, doc, parts, sure)
	}
	return c
}

// cover adds a source to the parts of a result that it covers.
func (v *View) cover(i int, e *Event, s *Source, c *classes, doc *node, parts []*part, sure bool) {
	shaped := len(s.Items)+len(s.Field)+len(s.Where) > 0 || s.Keys
	if !doc.structured() || s.Text {
		text := e.Text
		if !doc.structured() {
			text = parts[0].text
		}
		switch {
		case s.Label != "" && (!sure || !shaped):
			c.label(s, text, sure)
		case s.Label == "" && !shaped && !doc.structured():
			c.parts[parts[0]] = append(c.parts[parts[0]], s.Name)
		case s.Label == "" && !sure:
			c.whole = append(c.whole, s.Name)
		}
		return
	}
	if s.Label != "" && !shaped && sure {
		return
	}
	items := []*node{doc}
	if len(s.Items) > 0 {
		items, _ = doc.at(s.Items)
	}
	for _, item := range items {
		if !v.needs(i, e, c, s.Where, item, sure) {
			continue
		}
		if s.Keys {
			objects, _ := item.at(s.Field[:len(s.Field)-1])
			for _, p := range parts {
				if p.key && slices.ContainsFunc(objects, func(o *node) bool { return o.kind == 'o' && slices.Contains(o.members, p.node) }) {
					c.parts[p] = append(c.parts[p], s.Name)
				}
			}
			continue
		}
		values, _ := item.at(s.Field)
		for _, value := range values {
			found, _ := value.leaves()
			for _, n := range found {
				if s.Label != "" {
					c.label(s, n.text, sure)
					continue
				}
				p := parts[slices.IndexFunc(parts, func(p *part) bool { return p.node == n && !p.key })]
				c.parts[p] = append(c.parts[p], s.Name)
			}
		}
	}
}

// label adds the text of a label: for certain if it has one value, otherwise all of them.
func (c *classes) label(s *Source, text string, sure bool) {
	var values []string
	for _, m := range compiled(s.Label).FindAllStringSubmatch(text, -1) {
		if m[1] != "" && !slices.Contains(values, m[1]) {
			values = append(values, m[1])
		}
	}
	for _, value := range values {
		if !sure || len(values) == 1 {
			c.labels = append(c.labels, labelled{s.Name, value})
		}
	}
}

// needs reports whether conditions hold on the arguments or on an item.
func (v *View) needs(i int, e *Event, c *classes, all []Need, n *node, sure bool) bool {
	for k := range all {
		if n == nil || !v.need(i, e, c, &all[k], n, sure) {
			return false
		}
	}
	return true
}

func (v *View) need(i int, e *Event, c *classes, need *Need, n *node, sure bool) bool {
	values, complete := n.at(need.Pointer)
	if need.Pattern != "" {
		return !complete || slices.ContainsFunc(values, need.matches)
	}
	if !complete || len(values) == 0 {
		return false
	}
	for _, value := range values {
		if need.Const != "" {
			if value.kind != 's' || value.text != need.Const {
				return false
			}
			continue
		}
		found, all := value.leaves()
		if !all || len(found) == 0 || slices.ContainsFunc(found, func(leaf *node) bool { return !v.known(i, e, c, need, leaf, sure) }) {
			return false
		}
	}
	return true
}

// excludes reports whether the arguments of a call do not fit a constant or a pattern.
func (s *Source) excludes(args *node) bool {
	return args != nil && slices.ContainsFunc(s.Asked, func(n Need) bool {
		values, complete := args.at(n.Pointer)
		switch {
		case !complete || len(n.From) > 0:
			return false
		case n.Pattern != "":
			return !slices.ContainsFunc(values, n.matches)
		case n.Const == "":
			return false
		}
		return len(values) == 0 || slices.ContainsFunc(values, func(value *node) bool { return value.kind != 's' || value.text != n.Const })
	})
}

// matches reports whether a text of a value matches the pattern.
func (need *Need) matches(value *node) bool {
	found, _ := value.leaves()
	return slices.ContainsFunc(found, func(leaf *node) bool { return match(need.Pattern, leaf.text) })
}

// known reports whether a leaf comes from the sources of a condition.
func (v *View) known(i int, e *Event, c *classes, need *Need, leaf *node, sure bool) bool {
	text, kind := strings.TrimSpace(leaf.text), flow.Text
	switch {
	case text == "":
		return false
	case leaf.kind == 'n':
		kind = flow.Number
	case strings.Contains(text, "://"):
		kind = flow.URL
	case strings.Contains(text, "@"):
		a, err := mail.ParseAddress(text)
		if err != nil {
			return false
		}
		text, kind = a.Address, flow.Email
	case text[0] == '/':
		kind = flow.Path
	case !strings.Contains(text, " ") && regexp.MustCompile(`[0-9_./#:-]`).MatchString(text):
		kind = flow.ID
	}
	if slices.Contains(v.Policy.Own, strings.ToLower(text)) {
		return false
	}
	if need.Label != "" {
		m := compiled(need.Label).FindAllStringSubmatch(text, -1)
		if len(m) != 1 {
			return false
		}
		text, kind = m[0][1], flow.Text
	}
	if need.As != "" {
		kind, _ = flow.ParseKind(need.As)
	}
	q := &Query{Question: Question{Kind: kind, Relation: need.Relation}, Sources: need.From}
	f := v.find(text, q, i)
	same := c.has(text, need.From)
	if !sure {
		return f.Possible || v.is(same, "has", text)
	}
	if slices.ContainsFunc(echoOf(e), func(a string) bool { return strings.Contains(strings.ToLower(a), strings.ToLower(text)) }) || same != No && !v.unwritten(i, text) {
		same = No
	}
	return f.Certain || v.is(same, "has", text)
}
