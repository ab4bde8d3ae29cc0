// Package cidr is the condition cidr: an IP address, or the host of a URL, in one of some networks.
//
//	cidr = "10.0.0.0/8"
//	cidr = ["10.0.0.0/8", "fd00::/8"]
//
// A permissive condition holds for an address in its usual notation: "10.1.2.3", "[fd00::1]:443",
// "https://10.1.2.3/x". A restrictive one holds if some program could read the value as an address
// in a network: 2130706433 and 0x7f.1 are 127.0.0.1, "localhost" is a loopback address, and IPv6
// addresses may embed an IPv4 address. Other names are not resolved.
package cidr

import (
	"net/netip"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/schema"
)

// Kind is the row of the table of kinds.
var Kind = condition.Definition{
	Kind:  "cidr",
	Doc:   "The IP address, or the host of the URL, is in this network, or in one of an array.",
	Types: schema.String, Reads: []schema.Annotation{schema.None, schema.URL}, Undeclared: []schema.Annotation{schema.None},
	Misfit: "looks at IP addresses and URLs, but the parameter is neither", Remedy: `declare it with type = "string" or type = "url"`,
	Values: condition.OneOrMany, Listed: true, Verb: "is in", Build: build, Samples: samples,
}

// networks are the literals of one condition.
type networks []netip.Prefix

func build(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	var list networks
	for i, lit := range r.Spec.Values {
		network, err := parse(lit.Text)
		if err != nil {
			err.Index = i
			return tests, err
		}
		list = append(list, network)
	}
	if r.CheckOnly {
		return tests, nil
	}
	url := r.Target.Annotation == schema.URL
	all := spelt{networks: list, url: url, dfa: sync.OnceValue(func() *automaton.DFA { return list.automaton(url) })}
	switch {
	case r.Restrictive:
		tests.Text = &suspicious{all}
	case url || all.dfa() == nil:
		tests.Text = &all
	default:
		tests.Text = &arriving{all}
	}
	return tests, nil
}

// parse reads a network. Its address must be the first of the network, because 10.1.2.3/8 is
// misleading.
func parse(text string) (netip.Prefix, *condition.SpecError) {
	network, err := netip.ParsePrefix(text)
	if address, fails := netip.ParseAddr(text); err != nil && fails == nil && address.Zone() == "" {
		return network, condition.Invalid(0, "is an address, not a network", "`"+text+map[bool]string{true: "/32", false: "/128"}[address.Is4()]+"`")
	}
	switch {
	case err != nil:
		return network, condition.Invalid(0, "is not a network in CIDR notation", "`10.0.0.0/8` or `fd00::/8`")
	case network.Addr().Is4In6():
		return network, condition.Invalid(0, "is an IPv4 network in IPv6 notation", "write the IPv4 network: restrictive rules also find it in IPv6 addresses")
	case network != network.Masked():
		return network, condition.Invalid(0, "does not begin with the first address of the network", "`"+network.Masked().String()+"`")
	}
	return network, nil
}

func (n networks) contain(a netip.Addr) bool {
	for _, network := range n {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// samples are addresses of a network, in the notations that both types of parameters have.
func samples(literal string) []string {
	network, err := parse(literal)
	if err != nil {
		return nil
	}
	a := network.Addr()
	host := a.String()
	if a.Is6() {
		host = "[" + host + "]"
	}
	return []string{a.String(), "https://" + host + "/", "http://" + host + "/x", a.Next().String()}
}

// spelt is the permissive condition: the value is plainly written.
type spelt struct {
	networks
	url bool
	dfa func() *automaton.DFA // of the plainly written values; nil if it is too large
}

// Match evaluates a complete value.
func (t *spelt) Match(value []byte) bool {
	if t.url {
		host, ok := plainHost(value)
		return ok && t.certain(host)
	}
	return t.certain(string(value))
}

// certain reports whether every program reads a text as an address in a network.
func (t *spelt) certain(text string) bool {
	a, ok := plainAddress(text)
	return ok && t.contain(a) && len(embedded(a)) == 0
}

// Automata returns the automaton of the plainly written values, for proofs.
func (t *spelt) Automata() []automaton.Walker {
	if dfa := t.dfa(); dfa != nil {
		return []automaton.Walker{dfa}
	}
	return nil
}

// arriving is spelt for a string that is decided while it arrives.
type arriving struct{ spelt }

func (t *arriving) Start(s *condition.State) condition.Result {
	s.At = t.dfa().First()
	return condition.Result(t.dfa().Fate(s.At))
}

func (t *arriving) Feed(s *condition.State, text []byte) (condition.Result, int) {
	at, n := t.dfa().Feed(s.At, text)
	s.At = at
	return condition.Result(t.dfa().Fate(at)), n
}

func (t *arriving) End(s *condition.State) bool { return t.dfa().Accepting(s.At) }

// suspicious is the restrictive condition: some program could read the value as an address in a
// network.
type suspicious struct{ spelt }

func (t *suspicious) Match(value []byte) bool {
	text := string(value)
	if harmless(text) {
		return false
	}
	for _, a := range readings(text) {
		if t.contain(a) {
			return true
		}
		for _, inner := range embedded(a) {
			if t.contain(inner) {
				return true
			}
		}
	}
	return false
}

// harmless reports whether an ASCII text cannot be read as an address: it has no digit, no "::" and
// not enough groups, and does not name this machine.
func harmless(text string) bool {
	colons := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 0x80, c == '%', '0' <= c && c <= '9':
			return false
		case c == ':':
			colons++
		}
	}
	return colons < 3 && !strings.Contains(text, "::") && !strings.Contains(strings.ToLower(text), "localhost")
}
