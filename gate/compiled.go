package gate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/gate/recent"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// compiled is a policy with the state that the gate derives from it.
type compiled struct {
	policy Policy
	hash   string // of the policy together with the policies in Go
	// paths is the mode of path resolution, context the directories of relative paths.
	paths   string
	context *stopgate.Context
	// unversioned are the policies in Go without a version.
	unversioned []string
	observe     bool
	strict      *compiled // of one that observes: the same, enforced
	bundle      *stopgate.Bundle
	// previous is the policy of the sessions that are not reached; nil for none.
	previous *compiled
	reached  func(stopgate.SessionID) bool
	denyMode DenyMode
	governed bool // policies in Go decide about tools too
	bindings *bindings

	sessions    *session.Registry // of the files; nil for none
	sessionHash string
	joined      atomic.Pointer[joined]
	names       map[stopgate.ToolName]stopgate.ToolName
	readings    recent.Map[stopgate.ToolName, func(data []byte) bool]
	handoffs    [][]HandoffRule
	inherits    bool
	denialLimit int
	reviewers   []*reviewer
	externals   []*external
	reader      flow.Reader // nil: no rule needs the texts of sessions
	// keepTexts: their hashes are stored; keepText: they themselves are.
	keepTexts, keepText bool
	// looksAtSessions: some rule depends on the data of a session; looksAtTexts: some depends on
	// its texts before the arguments are known; looksAtGroups: some depends on the groups of the
	// principal; looksAtResults: some tool has rules about its results.
	looksAtSessions, looksAtTexts, looksAtGroups, looksAtResults bool
}

// bound is a policy bound to a tool as one request declares it.
type bound struct {
	rules      Rules                         // nil after a panic
	isPath     func(jsonstream.Pointer) bool // its IsPath, bound once
	definition string                        // hash of the whole tool definition in hex, "" without one (G4)
	cache      *callCache
}

// bindingKey holds the properties of a call that a binding may depend on: the tool, its
// definition, and the facts of `when` (K0c, K60).
type bindingKey struct {
	tool       stopgate.ToolName
	agent      stopgate.AgentName
	principal  stopgate.Principal
	server     stopgate.ServerID
	surface    stopgate.Surface
	situation  Situation
	dialect    string
	declared   bool
	pinned     bool
	strict     bool
	definition [sha256.Size]byte
}

// maxKeyText bounds the names in a cached key.
const maxKeyText = 1024

func (o *config) compile(p Policy) (*compiled, error) {
	return o.compileAs(p, false)
}

// compileAs compiles a policy; enforce overrides its observe mode.
func (o *config) compileAs(p Policy, enforce bool) (*compiled, error) {
	s := p.Gate()
	c := &compiled{policy: p, paths: s.Paths, context: rows.Context(s.Context), observe: s.Observe && !enforce, bundle: s.Bundle, denyMode: DenyThrow, denialLimit: denialLimit, bindings: o.bindingsOf(p), governed: len(o.policies) > 0}
	c.hash, c.unversioned = o.versions(p.Hash())
	if s.DenyMode != DenyByPolicy {
		c.denyMode = s.DenyMode
	}
	if s.DenialLimit != nil {
		c.denialLimit = int(*s.DenialLimit)
	}
	c.handoffs, c.sessionHash, c.names = p.HandoffRules(), p.SessionHash(), p.ToolNames()
	c.inherits, c.looksAtResults = inherits(c.handoffs), p.LooksAtResults()
	c.reader, c.keepTexts, c.keepText = p.Reader(), s.KeepTexts, s.KeepText
	c.looksAtSessions, c.looksAtTexts, c.looksAtGroups = p.LooksAtSessions(), p.LooksAtTexts(), p.LooksAtGroups()
	var err error
	if c.reviewers, err = o.makeReviewers(p.JudgeTables()); err != nil {
		return nil, err
	}
	if c.sessions, err = p.Sessions(); err == nil {
		err = c.makeExternals(o, p.ExternalTables())
	}
	if err == nil && c.observe {
		c.strict, err = o.compileAs(p, true)
	}
	if err == nil && s.Previous != nil && s.Reached != nil {
		c.reached = s.Reached
		c.previous, err = o.compileAs(s.Previous, enforce)
	}
	return c, err
}

// of returns the policy of a session. Every step of a call asks here, so that a session has one
// policy.
func (c *compiled) of(id stopgate.SessionID) *compiled {
	if c.previous == nil || c.reached(id) {
		return c
	}
	return c.previous
}

// all returns the policies of all sessions.
func (c *compiled) all() []*compiled {
	if c.previous == nil {
		return []*compiled{c}
	}
	return []*compiled{c, c.previous}
}

// policies returns the session policies of the file, followed by those in Go.
func (c *compiled) policies(code *session.Set) *session.Set {
	file := noPolicies
	if c.sessions != nil {
		file = c.sessions.Set()
	}
	if old := c.joined.Load(); old != nil && old.file == file && old.code == code {
		return old.all
	}
	both := &joined{file: file, code: code, all: session.Join(file, code)}
	c.joined.Store(both)
	return both.all
}

type joined struct{ file, code, all *session.Set }

// name returns the name of a tool in facts (S39).
func (c *compiled) name(tool stopgate.ToolName) stopgate.ToolName {
	if known, ok := c.names[tool]; ok {
		return known
	}
	return tool
}

// binding finds or makes the binding for a call in a session with some data, which
// is not valid if it is unknown, and some texts, which are nil if they are.
func (c *compiled) binding(call *stopgate.Call, data jsonstream.Value, texts flow.View) bound {
	under := Circumstances{Governed: c.governed || c.permitsUnknown(call.Tool)}
	if c.looksAtSessions || c.looksAtTexts || c.looksAtGroups {
		under.Situation = c.policy.SituationOf(call.Groups, data, texts)
	}
	key := bindingKey{
		tool: call.Tool, agent: call.Agent, principal: call.Principal,
		server: call.Server, surface: call.Surface, dialect: call.Dialect, situation: under.Situation, declared: call.Definition != nil,
	}
	if key.declared {
		key.pinned, key.strict, key.definition = call.Definition.Pinned, call.Definition.Strict, hashDefinition(call.Definition)
	}
	if last := c.bindings.last.Load(); last != nil && last.bindingKey == key {
		return last.bound
	}
	if b, ok := c.bindings.Get(key); ok {
		c.bindings.last.Store(b)
		return b.bound
	}
	b := bound{rules: c.policy.RulesFor(*call, under), cache: new(callCache)}
	b.isPath = b.rules.IsPath
	if key.declared {
		b.definition = hex.EncodeToString(key.definition[:])
	}
	if len(call.Tool)+len(call.Agent)+len(call.Principal)+len(call.Server)+len(call.Surface)+len(call.Dialect) <= maxKeyText {
		c.bindings.Put(key, &binding{key, b})
	}
	return b
}

// DefinitionHash is the hash of a definition as rows have it, in hex.
func DefinitionHash(d *stopgate.ToolDefinition) string { return rows.Hex(hashDefinition(d)) }

// hashDefinition identifies a tool definition: a change of any of its parts, the
// description included, makes it another one.
func hashDefinition(d *stopgate.ToolDefinition) (sum [sha256.Size]byte) {
	h := sha256.New()
	var size [8]byte
	part := func(n int) {
		binary.BigEndian.PutUint64(size[:], uint64(n))
		h.Write(size[:])
	}
	for _, text := range []string{string(d.Name), d.Description} {
		part(len(text))
		h.Write([]byte(text))
	}
	part(len(d.Schema))
	h.Write(d.Schema)
	if d.EmptyMeansNone {
		h.Write([]byte{1})
	}
	h.Sum(sum[:0])
	return sum
}

// bindings are the bindings of calls; one after the other is often of the same tool.
type bindings struct {
	recent.Map[bindingKey, *binding]
	last atomic.Pointer[binding]
}

// Bindings are the compiled rules of tools, shared by several gates: for a process that makes
// a gate for every call. The zero Bindings is ready,
// for one program, and safe for concurrent use.
type Bindings struct {
	mu      sync.Mutex
	program Policy
	made    *bindings
}

// bindingsOf returns the shared bindings if they are of this program and no policies in Go
// govern calls, else new ones.
func (o *config) bindingsOf(p Policy) *bindings {
	b := o.bindings
	if b == nil || len(o.policies) > 0 {
		return new(bindings)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.program == nil {
		b.program, b.made = p, new(bindings)
	}
	if b.program != p {
		return new(bindings)
	}
	return b.made
}

type binding struct {
	bindingKey
	bound
}
