package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// entry is one element of tool_calls, or a function_call, as it was received.
type entry struct {
	whole      jsonstream.Value
	index      jsonstream.Value
	id, typ    jsonstream.Value
	function   jsonstream.Value
	custom     jsonstream.Value
	name       jsonstream.Value // in function or custom
	arguments  jsonstream.Value // function.arguments or custom.input
	invalid    bool             // a member has an invalid type
	hasUnknown bool             // there are unknown members
}

// read finds the members of an element of tool_calls.
func (t *entry) read(v jsonstream.Value) {
	*t = entry{}
	t.whole = v
	for k, m := range v.Members() {
		if !provider.Present(m) {
			continue
		}
		switch string(provider.Key(k)) {
		case "index":
			t.index = m
		case "id":
			t.id = m
		case "type":
			t.typ = m
		case "function":
			t.function = m
			t.readCarrier(m, "arguments")
		case "custom":
			t.custom = m
			t.readCarrier(m, "input")
		default:
			t.hasUnknown = true
		}
	}
	t.invalid = t.invalid || notString(t.id) || notString(t.typ) || notString(t.name)
}

// readCarrier finds the members of the object that contains name and arguments.
func (t *entry) readCarrier(v jsonstream.Value, arguments string) {
	if v.Kind() != jsonstream.Object {
		t.invalid = true
		return
	}
	for k, m := range v.Members() {
		if !provider.Present(m) {
			continue
		}
		switch key := provider.Key(k); {
		case string(key) == "name":
			t.name = m
		case string(key) == arguments:
			t.arguments = m
		default:
			t.hasUnknown = true
		}
	}
}

func notString(v jsonstream.Value) bool { return v.IsValid() && v.Kind() != jsonstream.String }

// nonEmpty reports whether v is a non-empty string.
func nonEmpty(v jsonstream.Value) bool {
	return v.Kind() == jsonstream.String && len(v.Raw()) > 2
}

// position parses the index. A negative index counts as missing, any other invalid one as
// broken.
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

// add processes one element of a delta's tool_calls.
func (a *assembly) add(c *choice, t *entry) {
	k := a.assign(c, t)
	if k == nil {
		return
	}
	a.apply(c, k, t)
}

// assign finds or creates the call of an element. It returns nil if the element could
// belong to more than one call.
func (a *assembly) assign(c *choice, t *entry) *call {
	index, missing, isBroken := t.position()
	switch {
	case isBroken:
		k := c.byID(t.id)
		if k == nil {
			k = c.current(badIndex)
		}
		if k == nil {
			k = a.newCall(c, badIndex)
		}
		t.invalid = true
		return k
	case missing && nonEmpty(t.id):
		if k := c.byID(t.id); k != nil {
			return k
		}
		return a.newCall(c, byID)
	case missing:
		switch n, k := c.openCalls(); n {
		case 0:
			return a.newCall(c, noIndex)
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
	if k == nil || !startsCall(k, t) {
		if k == nil {
			k = a.newCall(c, index)
		}
		return k
	}
	k.superseded = true
	next := a.newCall(c, index)
	if !k.balance.complete() || k.carrier == custom {
		a.refuse(c, k, stopgate.CodeProtocolViolation)
		t.invalid = true
	}
	return next
}

// startsCall reports whether an element with the index of a call starts another call,
// because it has a new id. A late id belongs to the call, unless the name differs.
func startsCall(k *call, t *entry) bool {
	if !nonEmpty(t.id) || k.id != "" && t.id.IsText(k.id) {
		return false
	}
	return k.id != "" || k.name != "" && nonEmpty(t.name) && !t.name.IsText(k.name)
}

// maxPart is the approximate size of the parts in which a long text is decoded.
const maxPart = 16 << 10

// apply adds an element to its call.
func (a *assembly) apply(c *choice, k *call, t *entry) {
	code := a.carrierOf(k, t)
	if nonEmpty(t.name) && k.name == "" {
		k.name = t.name.Text()
	}
	if nonEmpty(t.id) && k.id == "" {
		k.id = t.id.Text()
		a.refuseSameID(c, k)
	}
	switch {
	case k.ended:
		a.countLate(k, len(t.arguments.Raw()))
		return
	case t.invalid:
		code = stopgate.CodeProtocolViolation
	case nonEmpty(t.name) && !t.name.IsText(k.name):
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
	if t.hasUnknown && !k.ended {
		a.addExtra(c, k, t)
	}
}

// carrierOf sets the carrier of the call, and returns the code with which the call is
// refused, if any: two carriers of one call cannot both be evaluated (F7), and an unknown
// carrier has no decoder (L14).
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
	if nonEmpty(t.typ) && !t.typ.IsText("function") && !t.typ.IsText("custom") {
		return stopgate.CodePolicyNotConfigured
	}
	return ""
}

// refuseSameID refuses every call of a choice whose id is equal to that of another call
// (F3).
func (a *assembly) refuseSameID(c *choice, k *call) {
	for _, other := range c.calls {
		if other != k && other.id == k.id {
			a.refuse(c, other, stopgate.CodeProtocolViolation)
			a.refuse(c, k, stopgate.CodeProtocolViolation)
		}
	}
}

// addLegacy processes a function_call. A choice has at most one.
func (a *assembly) addLegacy(c *choice, v jsonstream.Value) {
	t := entry{function: v}
	t.readCarrier(v, "arguments")
	t.invalid = t.invalid || notString(t.name)
	k := c.current(legacyKey)
	if k == nil {
		k = a.newCall(c, legacyKey)
		k.carrier = legacy
	}
	a.apply(c, k, &t)
}

// refuseMixed refuses every call of a choice that uses both tool_calls and function_call: a
// client reads only one of them, and which one is unknown (F7).
func (a *assembly) refuseMixed(c *choice) {
	for _, k := range c.calls {
		if (k.key == legacyKey) != (c.calls[0].key == legacyKey) {
			c.mixed = true
		}
	}
	if c.mixed {
		for _, k := range c.calls {
			a.refuse(c, k, stopgate.CodeEnvelopeMismatch)
		}
	}
}
