package naive

import "strings"

// pathNotKnown is the floor of a call that names a path whose file is unknown.
const pathNotKnown = "path_not_known"

// floors finds what the integrity of the arguments and the floors of one layer
// say (A, B). A layer that does not speak only brings its guards.
func (c *call) floors(file int) {
	l := &c.policy.Layers[file]
	if !l.Speaks {
		return
	}
	v := viewOf(l.Schema)
	c.keys(l, c.root, v)
	c.values(c.root, v, l.Schema)
	if c.root.End == Never || Valid(c.root, l.Schema) {
		return
	}
	if c.policy.onSchema(l) == "ask" {
		c.event(Verdict{Mode: "ask", Code: "schema_violation", Layer: "floor", At: c.root.End})
	} else {
		c.event(Verdict{Mode: "deny", Code: "schema_violation", Layer: "integrity", At: c.root.End})
	}
}

// onSchema is what a layer does about arguments that do not fit: what it says itself, else
// the strictest that a trusted layer says, else "deny".
func (p *Policy) onSchema(l *Layer) string {
	said := l.OnSchema
	for i := range p.Layers {
		o := &p.Layers[i]
		switch {
		case l.OnSchema != "" || o.Untrusted || !o.Speaks:
		case o.OnSchema == "deny" || said == "":
			said = o.OnSchema
		}
	}
	return said
}

// keys judges the keys of every object: ambiguous ones deny (A4 to A6, A25, B6),
// undeclared ones are a floor (B6, K24).
func (c *call) keys(l *Layer, n *Node, v view) {
	for _, e := range n.Elems {
		items := v.items()
		if v.wrong(Array) {
			items = v
		}
		c.keys(l, e, items)
	}
	if n.Kind == Object && v.wrong(Object) {
		v = v.objects()
	}
	taken := map[string]bool{}
	for _, m := range n.Members {
		if property := v.reads(m.Key); property != "" {
			if taken[property] || v.nul(m.Key) {
				c.event(Verdict{Mode: "deny", Code: "ambiguous_key", Layer: "integrity", At: m.At})
			}
			taken[property] = true
		}
		member, undeclared := v.key(m.Key)
		if undeclared && !v.nul(m.Key) && l.Unknown != "allow" {
			mode := "ask"
			if l.Unknown == "deny" {
				mode = "deny"
			}
			c.event(Verdict{Mode: mode, Code: "unknown_parameter", Layer: "floor", At: m.At})
		}
		c.keys(l, m.Value, member)
	}
}

// reads names the declared property that somebody may take a key for.
func (v view) reads(key string) string {
	for _, s := range v {
		for _, p := range s.Props {
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				if fold(name) == fold(key) {
					return fold(p.Name)
				}
			}
		}
	}
	return ""
}

// nul reports whether a key is a declared one with control characters in it, or with a NUL
// and more behind it.
func (v view) nul(key string) bool {
	bare := strings.Map(func(c rune) rune {
		if c < 0x20 || c == 0x7f {
			return -1
		}
		return c
	}, key)
	if bare == key {
		return false
	}
	cut, _, _ := strings.Cut(key, "\x00")
	for _, s := range v {
		if s.property(bare) != nil || cut != key && cut != "" && s.property(cut) != nil {
			return true
		}
	}
	return false
}

// values judges every path and command.
func (c *call) values(n *Node, v view, s *Schema) {
	if n.Kind == Array && v.vector() {
		if one := n.vector(); one != nil {
			c.value(one, "command", s)
		}
		return
	}
	for _, e := range n.Elems {
		items := v.items()
		if v.wrong(Array) {
			items = v
		}
		c.values(e, items, s)
	}
	inside := v
	if n.Kind == Object && v.wrong(Object) {
		if inside = v.objects(); inside == nil {
			if v.vector() {
				v = vectorView // nothing is a vector down there
			}
			for _, m := range n.Members {
				c.values(m.Value, v, s)
			}
			return
		}
	}
	for _, m := range n.Members {
		member, _ := inside.key(m.Key)
		c.values(m.Value, member, s)
	}
	if n.Kind == String {
		for _, a := range v.annotations() {
			if a == "path" || a == "command" || a == "patch" {
				c.value(n, a, s)
			}
		}
	}
}

func (c *call) value(n *Node, annotation string, s *Schema) {
	words, _, vector := vectorWords(n.Text)
	for _, w := range words {
		for _, r := range w {
			if _, control := hasControl(annotation, string(r)); control {
				c.event(Verdict{Mode: "ask", Code: "control_character", Layer: "floor", At: n.End})
			}
		}
	}
	for i, r := range []rune(n.Text) {
		if vector || annotation == "patch" {
			break
		}
		if _, control := hasControl(annotation, string(r)); control {
			c.event(Verdict{Mode: "ask", Code: "control_character", Layer: "floor", At: n.Ends[i]})
			break
		}
	}
	switch {
	case annotation == "patch":
		words = patches[n.Text]
		if words == nil {
			c.event(Verdict{Mode: "ask", Code: "patch_not_readable", Layer: "floor", At: n.End})
		}
	case annotation == "path":
		words = []string{n.Text}
	default:
		words = strings.FieldsFunc(n.Text, func(r rune) bool { return strings.ContainsRune(" \t\n\r;&|<>()'\"`="+wholeMark+partsMark, r) })
	}
	for _, w := range words {
		if c.policy.protected(w) {
			c.event(Verdict{Mode: "ask", Code: "protected_target", Layer: "floor", At: n.End})
			break
		}
	}
	if annotation == "command" && c.seen[looked{n, s}] && !plainLine(n.Text) {
		c.event(Verdict{Mode: "ask", Code: "command_not_analysable", Layer: "floor", At: n.End})
	}
}

// protected reports whether a path may mean a file that steers agents or their
// gate (K2).
func (p *Policy) protected(path string) bool {
	for _, r := range p.readings(path) {
		for _, c := range strings.Split(r, "/") {
			if strings.HasPrefix(c, ".") && strings.ContainsAny(c, "*?") && globString(c, "..") {
				return true // it may climb anywhere
			}
		}
		r = "/" + foldCase(r) + "/"
		for _, part := range Protected {
			if strings.Contains(r, "/"+part+"/") {
				return true
			}
		}
	}
	return false
}

// Protected are the names below which a path is protected, in lower case.
var Protected = []string{".git/hooks", ".git/config", ".gitconfig", "stopgate.toml"}

// everywhere applies a guard to every value of its type (K0a) and returns when no
// further one can appear.
func (l *look) everywhere(n *Node, v view) int {
	switch {
	case n.Start == Never:
		return Never
	case n.Kind == String && v.is(l.cond.On):
		if l.seen != nil {
			l.seen(n)
		}
		hit, at := l.test(n, v, l.permissive)
		l.take(hit, at)
		return at
	case n.Kind == Array && v.vector():
		if one := n.vector(); one != nil {
			l.everywhere(one, vectorView)
		}
		return n.End
	case n.Kind == Array:
		items := v.items()
		if v.wrong(Array) {
			items = v
		}
		for _, e := range n.Elems {
			l.everywhere(e, items)
		}
		return n.End
	case n.Kind != Object:
		return n.End
	}
	if v.wrong(Object) {
		inside := v.objects()
		if inside == nil {
			if v.is(l.cond.On) {
				l.below(n, v)
			}
			for _, m := range n.Members {
				l.everywhere(m.Value, nil) // nothing is known there
			}
			return n.End
		}
		v = inside
	}
	return l.members(n, v)
}

// members looks into an object: the guard waits for the members that are still to
// come only if one of them can hold a value of its type.
func (l *look) members(n *Node, v view) int {
	end := n.Start
	if l.cond.On == "string" {
		end = n.End // an undeclared member may hold a string
	}
	taken, cut := map[string]bool{}, false
	for _, m := range n.Members {
		if property := v.declared(m.Key); property != "" {
			if cut = taken[property]; cut {
				break // a second name of it: the call ends here
			}
			taken[property] = true
		}
		member, _ := v.key(m.Key)
		if at := l.everywhere(m.Value, member); member.holds(l.cond.On) {
			end = max(end, at)
		}
	}
	for _, s := range v {
		if viewOf(s.Extra).holds(l.cond.On) {
			end = n.End
		}
		for _, p := range s.Props {
			if member, _ := v.key(p.Name); member.holds(l.cond.On) && !taken[p.Name] {
				if end = n.End; cut {
					end = Never
				} else if n.End < Never {
					l.absent(member, nil, n.End)
				}
			}
		}
	}
	return end
}

// declared names the property that a key is a name of.
func (v view) declared(key string) string {
	for _, s := range v {
		if p := s.property(key); p != nil {
			return p.Name
		}
	}
	return ""
}

// is reports whether a string here is of the type a guard names.
func (v view) is(on string) bool {
	if on == "string" {
		on = ""
		if _, known := v.leaves().declares(String); !known {
			return true
		}
	}
	for _, a := range v.annotations() {
		if a == on || on == "path" && (a == "command" || a == "patch") { // the paths that it names
			return true
		}
	}
	return false
}

// holds reports whether a value here can contain one of the type a guard names.
func (v view) holds(on string) bool {
	if v.is(on) {
		return true
	}
	for _, s := range v {
		if viewOf(s.Items).holds(on) && s.Items != nil && s.Annotation != "argv" || s.Extra != nil && viewOf(s.Extra).holds(on) {
			return true
		}
		for _, p := range s.Props {
			if viewOf(p.Schema).holds(on) {
				return true
			}
		}
	}
	return false
}
