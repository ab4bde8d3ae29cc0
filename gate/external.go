package gate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/session"
)

// ExternalTable configures an external policy: a service that the gate asks (table
// [[external]] of an operator's file).
type ExternalTable struct {
	Name      string // unique among the files
	URL       string // "unix:///PATH", "https://..." or, to this machine, "http://..."
	TokenEnv  string // environment variable with the token
	TokenFile string // file with the token
	Timeout   int64  // milliseconds for one answer
	Hooks     []string
	OnError   stopgate.Mode // of a failure of the hook "judge": Deny or Ask
	// Tightens: the file was written for another project. Its policies do not permit tools that
	// no file knows.
	Tightens bool
	Source   string   // "FILE:LINE" of the table, for errors
	Tools    []string // names and globs of the tools that it governs
	// Governs reports whether the policy is asked about a tool.
	Governs func(stopgate.ToolName) bool
	// Meaning identifies everything that decides about an answer except the service itself.
	Meaning string
}

// Has reports whether the table names a hook.
func (t *ExternalTable) Has(hook string) bool { return slices.Contains(t.Hooks, hook) }

// External is an external policy by the kinds of policy that its table names. Kinds that it
// does not name are nil. Every kind is asked where policies in Go of that kind are.
type External struct {
	Tools    ToolPolicy
	Handoffs HandoffPolicy
	Sessions session.Policy
	Judge    Judge
	// Answers returns the answers about a proposal for its row.
	Answers func(stopgate.ProposalID) []stopgate.ExternalAnswer
}

// WithExternals sets the function that makes the external policies of policy files. It is called
// by New and by Swap, which fail if it does. Without it a policy with the table [[external]] is an
// error: its calls would go unjudged.
func WithExternals(open func(*ExternalTable) (External, error)) Option {
	return func(c *config) { c.externals = open }
}

// external is an external policy of a compiled policy.
type external struct {
	External
	table *ExternalTable
}

// limit is the time that the gate waits for an answer. A policy that gave up at its own limit can
// still report why.
func (e *external) limit() time.Duration {
	return time.Duration(e.table.Timeout)*time.Millisecond + judgeGrace
}

// governs reports whether the policy is asked about a tool under one of its names.
func (e *external) governs(c *compiled, tool stopgate.ToolName) bool {
	return e.table.Governs(tool) || e.table.Governs(c.name(tool))
}

// makeExternals makes the external policies of files: their session policies are registered after
// those of the files, their judges after the other judges.
func (c *compiled) makeExternals(o *config, tables []*ExternalTable) error {
	names := map[string]bool{}
	for _, t := range tables {
		if o.externals == nil {
			return fmt.Errorf("gate: %s: external policy %q: this program asks no external policies", t.Source, t.Name)
		}
		if names[t.Name] {
			return fmt.Errorf("gate: %s: external policy %q: another file has a table of this name", t.Source, t.Name)
		}
		names[t.Name] = true
		made, err := o.externals(t)
		if err != nil {
			return err
		}
		e := &external{made, t}
		c.externals = append(c.externals, e)
		if made.Sessions != nil {
			if c.sessions == nil {
				c.sessions = session.NewRegistry()
			}
			if err := c.sessions.Register(made.Sessions); err != nil {
				return fmt.Errorf("gate: %s: external policy %q: %w", t.Source, t.Name, err)
			}
		}
		if made.Judge != nil {
			c.reviewers = append(c.reviewers, &reviewer{judge: made.Judge, onError: t.OnError, limit: e.limit(), table: &JudgeTable{
				Governs: t.Governs, Meaning: "external " + t.Meaning, OnError: t.OnError, Source: t.Source,
			}})
		}
	}
	return nil
}

// gates returns the external policies that are asked about a tool as tool policies.
func (c *compiled) gates(tool stopgate.ToolName) (list []*external) {
	for _, e := range c.externals {
		if e.Tools != nil && e.governs(c, tool) {
			list = append(list, e)
		}
	}
	return list
}

// permitsUnknown reports whether an external policy may permit a tool that no file knows.
func (c *compiled) permitsUnknown(tool stopgate.ToolName) bool {
	return slices.ContainsFunc(c.gates(tool), func(e *external) bool { return !e.table.Tightens })
}

// handoffGates returns the external policies that are asked about handoffs.
func (c *compiled) handoffGates() (list []*external) {
	for _, e := range c.externals {
		if e.Handoffs != nil {
			list = append(list, e)
		}
	}
	return list
}

// decidesHandoffs reports whether policies in Go or external policies decide about handoffs.
func (g *Gate) decidesHandoffs(c *compiled) bool {
	return len(g.handoffs) > 0 || len(c.handoffGates()) > 0
}

// keepsRaw reports whether policies are asked that see the arguments as they came (G2-05).
func (p *pending) keepsRaw() bool { return p.g.goPolicies || len(p.under.externals) > 0 }

// askGates asks external policies about a call, and reports whether one permits it. They are asked
// in their order, and the first that forbids ends the call.
func (l *gateLayer) askGates(ctx context.Context, list []*external, check func(*external) func(context.Context) (Decision, error)) (permitted bool) {
	for _, e := range list {
		if l.p.isTerminal() {
			return false
		}
		permits := l.ask(ctx, e.table.Name, e.limit(), check(e))
		permitted = permitted || permits && !e.table.Tightens
	}
	return permitted
}

// askTool asks the external policies about a call of a tool.
func (l *gateLayer) askTool(ctx context.Context, list []*external) (permitted bool) {
	return l.askGates(ctx, list, func(e *external) func(context.Context) (Decision, error) {
		return func(ctx context.Context) (Decision, error) { return e.Tools.Check(ctx, *l.p.proposal) }
	})
}

// askHandoff asks the external policies about a handoff.
func (l *gateLayer) askHandoff(ctx context.Context, list []*external) (permitted bool) {
	return l.askGates(ctx, list, func(e *external) func(context.Context) (Decision, error) {
		return func(ctx context.Context) (Decision, error) { return e.Handoffs.CheckHandoff(ctx, *l.p.proposal) }
	})
}

// askCurrent asks the external policies of a policy that came into force while the call was open,
// unless they have answered as they would now (S16).
func (l *gateLayer) askCurrent(ctx context.Context) {
	p := l.p
	now := p.g.current.Load().of(p.call.Session)
	if now == p.under || now.observe || p.proposal == nil {
		return
	}
	list, before := now.gates(p.call.Tool), p.under.gates(p.call.Tool)
	if p.kind == Handoff {
		list, before = now.handoffGates(), p.under.handoffGates()
	}
	list = slices.DeleteFunc(list, func(e *external) bool {
		return slices.ContainsFunc(before, func(b *external) bool { return b.table.Meaning == e.table.Meaning && b.table.URL == e.table.URL })
	})
	if p.kind == Handoff {
		l.askHandoff(ctx, list)
	} else {
		l.askTool(ctx, list)
	}
}

// answers returns the answers of the external policies about a call for its row.
func (c *compiled) answers(id stopgate.ProposalID) (all []stopgate.ExternalAnswer) {
	for _, e := range c.externals {
		if e.Answers != nil {
			all = append(all, e.Answers(id)...)
		}
	}
	slices.SortStableFunc(all, func(a, b stopgate.ExternalAnswer) int { return a.Time.Compare(b.Time) })
	return all
}

// answers returns the answers about the call, under the policy that it began with and that of now.
func (p *pending) answers() []stopgate.ExternalAnswer {
	all := p.under.answers(p.id)
	if now := p.g.current.Load().of(p.call.Session); now != p.under {
		all = append(all, now.answers(p.id)...)
	}
	return all
}

// PolicyOf returns the hash of a policy together with the versions of the external policies that
// answered (S36): that of a row with these answers. Without an answer it is the hash itself.
func PolicyOf(hash string, answers []stopgate.ExternalAnswer) string {
	if len(answers) == 0 {
		return hash
	}
	var named []string
	for i := range answers {
		named = append(named, strconv.Quote(answers[i].Policy)+"@"+strconv.Quote(answers[i].Version))
	}
	slices.Sort(named)
	sum := sha256.New()
	sum.Write([]byte("external " + hash + "\n"))
	for _, name := range slices.Compact(named) {
		sum.Write([]byte(name + "\n"))
	}
	return rows.Hex([sha256.Size]byte(sum.Sum(nil)))
}
