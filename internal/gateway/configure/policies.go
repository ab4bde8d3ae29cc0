package configure

import (
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// policyTable is one table [[gateway.policies]].
type policyTable struct {
	Type        policyType `toml:"type,required"`
	Name        string     `toml:"name"`
	Patterns    []string   `toml:"patterns"`
	Replacement string     `toml:"replacement"`
	Longest     int        `toml:"longest"`
	Direction   direction  `toml:"direction"`
	Silent      bool       `toml:"silent"`
}

type policyType string

// UnmarshalText parses the type of a policy.
func (p *policyType) UnmarshalText(text []byte) error {
	*p = policyType(text)
	return word(text, "redact", "content_only", "passthrough")
}

type direction string

// UnmarshalText parses the direction of a redaction.
func (d *direction) UnmarshalText(text []byte) error {
	*d = direction(text)
	return word(text, "response", "request", "both")
}

// policies reads the event policies in file order.
func (c *configurer) policies(tables []policyTable, at *tomltree.Entry) {
	names := map[string]bool{}
	for i, t := range tables {
		where := at.Value
		if i < len(at.Value.Elements) {
			where = at.Value.Elements[i]
		}
		p, err := t.open()
		switch {
		case err != nil:
			c.Report(where, "%v", err)
			continue
		case names[p.Name()]:
			c.Report(where, "two policies have the name %q: give them names", p.Name())
		}
		names[p.Name()] = true
		c.o.Policies = append(c.o.Policies, p)
	}
}

func (t policyTable) open() (events.Policy, error) {
	switch t.Type {
	case "redact":
		return events.Redact(events.Redaction{
			Name: t.Name, Patterns: t.Patterns, Replacement: t.Replacement, Longest: t.Longest,
			Request: t.Direction == "request" || t.Direction == "both", Response: t.Direction != "request",
		})
	case "content_only":
		return events.ContentOnly{As: t.Name, Silent: t.Silent}, nil
	}
	return events.Passthrough{As: t.Name}, nil
}
