package session

import "github.com/stopgate/stopgate"

// part is what a policy of this package does about calls of one tool: what its
// selectors say of the name is worked out once.
type part interface {
	// needs and marks append what Needs and Marks return.
	needs(keys []Key, c *Call) []Key
	marks(marks []Mark, c *Call) []Mark
	check(v *View, c *Call) Decision
}

// parted is implemented by the policies of this package.
type parted interface {
	about(tool stopgate.ToolName) part
	needsArgs() bool
	keyer() *keyer
}

// ours returns a policy of this package itself, nil for every other one: a type
// elsewhere that embeds one may have methods of its own.
func ours(p any) parted {
	switch p := p.(type) {
	case *Requirement:
		return p
	case *Files:
		return p
	case *Quota:
		return p
	}
	return nil
}

// inner is the policy behind a condition on data.
func inner(p Policy) Policy {
	if c, ok := p.(*conditional); ok && c.data {
		return c.Policy
	}
	return p
}
