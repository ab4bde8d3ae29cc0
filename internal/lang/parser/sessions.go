package parser

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// Limits of [[session]] with type = "limit".
const (
	maxInFlight = 1024 // session.MaxOpen
	minWithin   = 60   // milliseconds: one for each step of the window
)

// session reads one [[session]] (TPS). Each type has its own keys.
func (p *sessionParser) session(t *tomltree.Value) {
	s := &syntax.SessionPolicy{Pos: t.Range}
	p.policy.Sessions = append(p.policy.Sessions, s)
	keys := sessionKeysOf[s.Type]
	if e := t.Get("type"); e == nil {
		p.report(diag.MissingKey, t.Range, "`type` is missing", "write type = "+diag.Words(sessionTypes))
	} else if word, ok := p.word(e, sessionTypes...); ok {
		s.Type, keys = word, sessionKeysOf[word]
	}
	if s.Type == "" { // without a type, accept the keys of every type
		for _, name := range sessionTypes {
			keys = append(keys[:len(keys):len(keys)], sessionKeysOf[name]...)
		}
	}
	p.known(t, sessionKeys, keys)
	s.Name, _ = p.text(t.Get("name"))
	if e := t.Get("enabled"); e != nil {
		s.Off = !p.flag(e)
	}
	p.sessionWhen(t.Get("when"), s)
	s.Reason = p.sentence(t.Get("reason"))
	if word, ok := p.word(t.Get("mode"), "deny", "ask"); ok {
		s.Asks = word == "ask"
	}
	if word, ok := p.word(t.Get("on_missing_key"), "deny", "allow"); ok && word == "allow" {
		s.AllowNoKey = true
	}
	s.Within = p.duration(t.Get("within"))
	if s.Within > 0 && s.Within < minWithin {
		p.report(diag.BadValue, t.Get("within").Value.Range, "`within` is too short", "write at least \"60ms\"")
	}
	for _, v := range p.texts(t.Get("key")) {
		if pointer, ok := p.pointer(v); ok {
			s.Key = append(s.Key, pointer)
		}
	}
	word, _ := p.word(t.Get("key_type"), "value", "path")
	s.KeyIsPath, s.KeyIsValue = word == "path", word == "value"
	s.InvalidatedBy = p.toolNames(t.Get("invalidated_by"))
	s.Observed = p.flag(t.Get("require_observed"))
	s.AcceptUnknown = p.flag(t.Get("accept_unknown"))
	switch s.Type {
	case syntax.SessionRequire:
		p.requirement(t, s)
	case syntax.SessionReadBeforeWrite:
		p.files(t, s)
	case syntax.SessionLimit:
		p.limit(t, s)
	case syntax.SessionFlow:
		p.flowPolicy(t, s)
	}
}

func (p *sessionParser) requirement(t *tomltree.Value, s *syntax.SessionPolicy) {
	s.Before = p.toolNames(t.Get("before"))
	s.Requires = p.toolNames(t.Get("requires"))
	s.Approvals = textsOf(p.texts(t.Get("approvals")))
	word, _ := p.word(t.Get("require"), "all", "any")
	s.Any, s.AllWritten = word == "any", word == "all"
	if word, _ := p.word(t.Get("per"), "session", "project", "principal"); word != "session" {
		s.Per = word
	}
	if s.Per != "" && s.Within == 0 {
		p.report(diag.MissingKey, t.Get("per").Value.Range, "`within` is missing", "successes of other sessions need a lifetime: write within = \"1d\"")
	}
	if e := t.Get("approvals"); s.Per != "" && e != nil {
		p.report(diag.BadCondition, e.KeyRange, "`approvals` are given in a session and cannot be counted per "+s.Per, "write a second [[session]]")
	}
	if t.Get("before") == nil {
		p.report(diag.MissingKey, t.Range, "`before` is missing", "name the tools that need something first")
	}
	if t.Get("requires") == nil && t.Get("approvals") == nil {
		p.report(diag.MissingKey, t.Range, "`requires` is missing", "name the calls that must have succeeded, or `approvals`")
	}
}

func (p *sessionParser) files(t *tomltree.Value, s *syntax.SessionPolicy) {
	s.ReadTools = p.toolNames(t.Get("read_tools"))
	s.WriteTools = p.toolNames(t.Get("write_tools"))
	s.KeyIsPath = true
	if e := t.Get("content_hash"); e != nil {
		if _, ok := p.text(e); ok {
			s.ContentHash, _ = p.pointer(e.Value)
		}
	}
}

func (p *sessionParser) limit(t *tomltree.Value, s *syntax.SessionPolicy) {
	s.Tools = p.toolNames(t.Get("tools"))
	if t.Get("tools") == nil {
		p.report(diag.MissingKey, t.Range, "`tools` is missing", "name the tools that are counted together")
	}
	s.MaxCalls = p.integer(t.Get("max_calls"), math.MaxInt64)
	s.MaxInFlight = p.integer(t.Get("max_in_flight"), maxInFlight)
	s.InFlightTTL = p.duration(t.Get("inflight_ttl"))
	sum, most := t.Get("sum"), t.Get("max_sum")
	switch {
	case sum == nil && most == nil:
	case sum == nil || most == nil:
		p.report(diag.MissingKey, t.Range, "`sum` and `max_sum` belong together", "")
	default:
		if _, ok := p.text(sum); ok {
			s.Sum, _ = p.pointer(sum.Value)
		}
		if lit, ok := p.literal(most.Value); ok {
			if d, err := jsonstream.ParseDecimal([]byte(lit.Text)); lit.Kind != condition.LiteralNumber || err != nil || d.Sign() < 0 {
				p.report(diag.BadValue, most.Value.Range, "`max_sum` must be a number that is not negative", "")
			}
			s.MaxSum = lit.Text
		}
	}
	if s.MaxCalls == nil && s.MaxInFlight == nil && sum == nil && most == nil {
		p.report(diag.MissingKey, t.Range, "the limit has no bound", "write `max_calls`, `max_in_flight`, or `sum` and `max_sum`")
	}
	if e := t.Get("max_in_flight"); e != nil {
		for _, other := range []string{"max_calls", "sum", "within"} {
			if o := t.Get(other); o != nil {
				p.report(diag.BadCondition, o.KeyRange, "`max_in_flight` and `"+other+"` exclude each other", "write a second [[session]]")
			}
		}
	}
	word, _ := p.word(t.Get("scope"), "principal", "session")
	s.PerSession = word == "session"
	word, _ = p.word(t.Get("failures"), "void", "count")
	s.CountFailures = word == "count"
}

// toolNames reads names and globs of tools.
func (p *reader) toolNames(e *tomltree.Entry) []string {
	values := p.texts(e)
	for _, v := range values {
		p.toolName(v.Text, v.Range)
	}
	return textsOf(values)
}

// integer reads an integer from 0 to most.
func (p *reader) integer(e *tomltree.Entry, most int64) *int64 {
	if e == nil {
		return nil
	}
	n, err := strconv.ParseInt(e.Value.Text, 10, 64)
	if e.Value.Kind != tomltree.Integer || err != nil || n < 0 || n > most {
		hint := ""
		if most < math.MaxInt64 {
			hint = "at most " + strconv.FormatInt(most, 10)
		}
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` must be a whole number that is not negative", hint)
		return nil
	}
	return &n
}

// duration reads "1h30m", "7d", "500ms" as milliseconds.
func (p *reader) duration(e *tomltree.Entry) int64 {
	text, ok := p.text(e)
	if !ok {
		return 0
	}
	ms, ok := milliseconds(text)
	if !ok {
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` is not a time", "write \"90s\", \"10m\", \"1h30m\" or \"7d\"")
	}
	return ms
}

var units = []struct {
	name string
	ms   int64
}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}}

// maxDuration bounds times: ten years.
const maxDuration = 3650 * 86_400_000

func milliseconds(text string) (ms int64, ok bool) {
	for text != "" {
		digits := 0
		for digits < len(text) && digits < 12 && text[digits] >= '0' && text[digits] <= '9' {
			digits++
		}
		n, err := strconv.ParseInt(text[:digits], 10, 64)
		if err != nil {
			return 0, false
		}
		text = text[digits:]
		found := false
		for _, u := range units {
			if len(text) >= len(u.name) && text[:len(u.name)] == u.name {
				if n > maxDuration/u.ms {
					return 0, false
				}
				ms, text, found = ms+n*u.ms, text[len(u.name):], true
				break
			}
		}
		if !found || ms > maxDuration {
			return 0, false
		}
	}
	return ms, ms > 0
}

// sessionWhen reads conditions on the session's data and on who calls: a table, or an array of
// tables that must all hold.
func (p *sessionParser) sessionWhen(e *tomltree.Entry, s *syntax.SessionPolicy) {
	if e == nil {
		return
	}
	tables := []*tomltree.Value{e.Value}
	if e.Value.Kind == tomltree.Array {
		tables = p.elements(e)
	} else if !p.table(e) {
		return
	}
	for _, t := range tables {
		callers := syntax.Callers{Principal: p.factNames(t, "principal"), Group: p.factNames(t, "group")}
		if len(callers.Principal)+len(callers.Group) > 0 {
			s.Callers = append(s.Callers, callers)
		}
		if t.Get("session") == nil && len(t.Entries) > 0 && !slices.ContainsFunc(t.Entries, func(e *tomltree.Entry) bool { return p.isMatcher(e.Key) }) {
			p.known(t, []string{"session"}, callerKeys)
			continue
		}
		p.known(t, []string{"session"}, callerKeys, p.matchers)
		if c, ok := p.dataCondition(t, "session"); ok {
			s.When = append(s.When, c)
		}
	}
}

// callerKeys are the keys of a `when` of a session policy about who calls.
var callerKeys = []string{"principal", "group"}

// sessionCondition reads a pointer under the given key and exactly one matcher.
func (p *sessionParser) sessionCondition(t *tomltree.Value, key string) (syntax.SessionCondition, bool) {
	p.known(t, []string{key}, p.matchers)
	return p.dataCondition(t, key)
}

// dataCondition is sessionCondition for a table with further keys.
func (p *ruleParser) dataCondition(t *tomltree.Value, key string) (syntax.SessionCondition, bool) {
	var matcher *tomltree.Entry
	for _, e := range t.Entries {
		if p.isMatcher(e.Key) {
			if matcher != nil {
				p.report(diag.BadCondition, e.KeyRange, "`"+matcher.Key+"` and `"+e.Key+"` in one condition: exactly one matcher is possible", "")
				return syntax.SessionCondition{}, false
			}
			matcher = e
		}
	}
	at := t.Get(key)
	if at == nil || matcher == nil {
		p.report(diag.BadCondition, t.Range, "a condition needs `"+key+"` and one matcher", "write { "+key+" = \"/mode\", const = \"strict\" }")
		return syntax.SessionCondition{}, false
	}
	if _, ok := p.text(at); !ok {
		return syntax.SessionCondition{}, false
	}
	if kind, _ := p.policy.Conditions.ParseKey(matcher.Key); kind.Sources {
		p.report(diag.BadCondition, matcher.KeyRange, "`"+matcher.Key+"` looks at arguments of calls", "")
		return syntax.SessionCondition{}, false
	}
	pointer, ok := p.pointer(at.Value)
	c := syntax.Condition{ConditionKeys: new(syntax.ConditionKeys)}
	if !p.matcher(matcher, &c) || !ok {
		return syntax.SessionCondition{}, false
	}
	if _, err := match.Compile(c.Spec, condition.Target{}, true, condition.Env{}); err != nil {
		p.unfit(matcher, err)
		return syntax.SessionCondition{}, false
	}
	return syntax.SessionCondition{Pointer: pointer, Spec: c.Spec, Pos: t.Range}, true
}

func (p *reader) unfit(e *tomltree.Entry, err error) {
	message, hint := err.Error(), ""
	var spec *condition.SpecError
	if errors.As(err, &spec) {
		message, hint = spec.Message, spec.Hint
	}
	p.report(diag.BadCondition, e.Value.Range, message, hint)
}

// success reads tools.NAME.success (S24).
func (p *sessionParser) success(e *tomltree.Entry) *syntax.Success {
	if e == nil || !p.table(e) {
		return nil
	}
	t := e.Value
	exit, arg, pattern := t.Get("exit_code"), t.Get("arg"), t.Get("pattern")
	switch {
	case exit != nil:
		p.known(t, []string{"exit_code"})
		if _, ok := p.text(exit); !ok {
			return nil
		}
		pointer, ok := p.pointer(exit.Value)
		if !ok {
			return nil
		}
		return &syntax.Success{ExitCode: pointer}
	case arg != nil:
		c, ok := p.sessionCondition(t, "arg")
		if !ok {
			return nil
		}
		return &syntax.Success{Condition: &c}
	case pattern != nil:
		p.known(t, []string{"pattern"})
		c := syntax.Condition{ConditionKeys: new(syntax.ConditionKeys)}
		if !p.matcher(pattern, &c) {
			return nil
		}
		if _, err := match.Compile(c.Spec, condition.Target{}, false, condition.Env{}); err != nil {
			p.unfit(pattern, err)
			return nil
		}
		return &syntax.Success{Text: &c.Spec}
	}
	p.known(t, successKeys)
	p.report(diag.BadCondition, t.Range, "`success` does not say how a result is read",
		`write { exit_code = "/metadata/exit_code" }, { arg = "/status", const = "ok" } or { pattern = "^PASS" }`)
	return nil
}

// sessionNames reports duplicate names.
func (p *sessionParser) sessionNames() {
	var names []string
	for _, s := range p.policy.Sessions {
		if s.Name == "" {
			continue
		}
		if slices.Contains(names, s.Name) {
			p.report(diag.Duplicate, s.Pos, "two session policies have the name "+strconv.Quote(s.Name), "")
		}
		names = append(names, s.Name)
	}
}
