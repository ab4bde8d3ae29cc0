package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// entry is one element of tool_calls, or a function_call, as it was written.
type entry struct {
	whole     jsonstream.Value
	index     jsonstream.Value
	id, typ   jsonstream.Value
	function  jsonstream.Value
	custom    jsonstream.Value
	name      jsonstream.Value // in function or custom
	arguments jsonstream.Value // function.arguments or custom.input
	bad       bool             // a member has a type that it cannot have
	more      bool             // there are unknown members
}

// read finds the members of an element of tool_calls.
func (t *entry) read(v jsonstream.Value) {
	*t = entry{}
	t.whole = v
	for k, m := range v.Members() {
		if !wire.Present(m) {
			continue
		}
		switch string(wire.Key(k)) {
		case "index":
			t.index = m
		case "id":
			t.id = m
		case "type":
			t.typ = m
		case "function":
			t.function = m
			t.carry(m, "arguments")
		case "custom":
			t.custom = m
			t.carry(m, "input")
		default:
			t.more = true
		}
	}
	t.bad = t.bad || notString(t.id) || notString(t.typ) || notString(t.name)
}

// carry finds the members of the object that holds name and arguments.
func (t *entry) carry(v jsonstream.Value, arguments string) {
	if v.Kind() != jsonstream.Object {
		t.bad = true
		return
	}
	for k, m := range v.Members() {
		if !wire.Present(m) {
			continue
		}
		switch key := wire.Key(k); {
		case string(key) == "name":
			t.name = m
		case string(key) == arguments:
			t.arguments = m
		default:
			t.more = true
		}
	}
}

func notString(v jsonstream.Value) bool { return v.IsValid() && v.Kind() != jsonstream.String }

// says reports whether v is a string that is not empty.
func says(v jsonstream.Value) bool {
	return v.Kind() == jsonstream.String && len(v.Raw()) > 2
}

// position reads an index: missing (also negative ones), or broken.
func (t *entry) position() (index int, missing, isBroken bool) {
	if !t.index.IsValid() {
		return 0, true, false
	}
	raw := t.index.Raw()
	if t.index.Kind() != jsonstream.Number {
		return 0, false, true
	}
	negative := raw[0] == '-'
	if negative {
		raw = raw[1:]
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false, true
		}
		n = min(n*10+int(c-'0'), 1<<20)
	}
	switch {
	case negative && n > 0:
		return 0, true, false
	case n > 255:
		return 0, false, true
	}
	return n, false, false
}

// add takes one element of a delta's tool_calls (WIRE 2.3).
func (a *assembly) add(c *choice, t *entry) {
	k := a.assign(c, t)
	if k == nil {
		return
	}
	a.apply(c, k, t)
}

// assign finds or begins the call that an element belongs to; nil if it can
// belong to more than one.
func (a *assembly) assign(c *choice, t *entry) *call {
	index, missing, isBroken := t.position()
	switch {
	case isBroken:
		k := c.named(t.id)
		if k == nil {
			k = c.current(broken)
		}
		if k == nil {
			k = a.newCall(c, broken)
		}
		t.bad = true
		return k
	case missing && says(t.id):
		if k := c.named(t.id); k != nil {
			return k
		}
		return a.newCall(c, byID)
	case missing:
		switch n, k := c.open(); n {
		case 0:
			return a.newCall(c, alone)
		case 1:
			return k
		}
		for _, k := range c.calls {
			if !k.superseded {
				a.refuse(c, k, stopgate.CodeProtocolViolation)
			}
		}
		return nil
	}
	k := c.current(index)
	if k == nil || !another(k, t) {
		if k == nil {
			k = a.newCall(c, index)
		}
		return k
	}
	k.superseded = true
	next := a.newCall(c, index)
	if !k.balance.complete() || k.carrier == custom {
		a.refuse(c, k, stopgate.CodeProtocolViolation)
		t.bad = true
	}
	return next
}

// another reports whether an element with the index of a call begins another
// call: it has a new id. An id that comes late belongs to the call, unless the
// name says otherwise.
func another(k *call, t *entry) bool {
	if !says(t.id) || k.id != "" && t.id.IsText(k.id) {
		return false
	}
	return k.id != "" || k.name != "" && says(t.name) && !t.name.IsText(k.name)
}

// maxPart is about how much of a long text is decoded at once.
const maxPart = 16 << 10

// apply gives a call what an element says about it.
func (a *assembly) apply(c *choice, k *call, t *entry) {
	code := a.carrierOf(k, t)
	if says(t.name) && k.name == "" {
		k.name = t.name.Text()
	}
	if says(t.id) && k.id == "" {
		k.id = t.id.Text()
		a.unique(c, k)
	}
	switch {
	case k.over:
		a.waste(k, len(t.arguments.Raw()))
		return
	case t.bad:
		code = stopgate.CodeProtocolViolation
	case says(t.name) && !t.name.IsText(k.name):
		code = stopgate.CodeProtocolViolation
	}
	if code != "" {
		a.refuse(c, k, code)
		return
	}
	if k.name != "" {
		a.start(c, k)
	}
	switch {
	case !t.arguments.IsValid():
	case t.arguments.Kind() == jsonstream.String:
		if size := min(len(t.arguments.Raw()), maxPart) + 8; cap(a.text) < size {
			a.text = make([]byte, 0, size)
		}
		for part := range t.arguments.TextParts(a.text) {
			a.feed(c, k, part)
		}
	case t.arguments.Kind() == jsonstream.Object && a.o.ObjectArguments && k.carrier != custom:
		a.feed(c, k, t.arguments.Raw())
	default:
		a.refuse(c, k, stopgate.CodeProtocolViolation)
	}
	if t.more && !k.over {
		a.keepExtra(c, k, t)
	}
}

// carrierOf notes the member that carries the call, and says which code refuses
// it: two carriers for one call cannot both be judged (F7), and a carrier that
// is not known here has no decoder (L14).
func (a *assembly) carrierOf(k *call, t *entry) stopgate.Code {
	seen := [...]struct {
		present bool
		carrier carrier
	}{
		{t.function.IsValid() && k.carrier != legacy, function},
		{t.custom.IsValid(), custom},
		{t.typ.IsText("function"), function},
		{t.typ.IsText("custom"), custom},
	}
	for _, s := range seen {
		switch {
		case !s.present:
		case k.carrier == anyCarrier:
			k.carrier = s.carrier
		case k.carrier != s.carrier:
			return stopgate.CodeEnvelopeMismatch
		}
	}
	if says(t.typ) && !t.typ.IsText("function") && !t.typ.IsText("custom") {
		return stopgate.CodePolicyNotConfigured
	}
	return ""
}

// unique refuses every call of a choice that shares its id with another (F3).
func (a *assembly) unique(c *choice, k *call) {
	for _, other := range c.calls {
		if other != k && other.id == k.id {
			a.refuse(c, other, stopgate.CodeProtocolViolation)
			a.refuse(c, k, stopgate.CodeProtocolViolation)
		}
	}
}

// addLegacy takes a function_call: one call per choice.
func (a *assembly) addLegacy(c *choice, v jsonstream.Value) {
	t := entry{function: v}
	t.carry(v, "arguments")
	t.bad = t.bad || notString(t.name)
	k := c.current(theOld)
	if k == nil {
		k = a.newCall(c, theOld)
		k.carrier = legacy
	}
	a.apply(c, k, &t)
}

// mix refuses every call of a choice that uses both spellings of calls: a client
// reads one of them, and which is not known (WIRE 2.3, F7).
func (a *assembly) mix(c *choice) {
	for _, k := range c.calls {
		if (k.key == theOld) != (c.calls[0].key == theOld) {
			c.mixed = true
		}
	}
	if c.mixed {
		for _, k := range c.calls {
			a.refuse(c, k, stopgate.CodeEnvelopeMismatch)
		}
	}
}
