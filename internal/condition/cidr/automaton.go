package cidr

import (
	"net/netip"
	"strconv"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// largest is the number of states above which no automaton is built.
const largest = 1 << 13

// automaton accepts the plainly written values whose address is in a network: of addresses, or of
// URLs. It is nil if it would be too large.
func (n networks) automaton(url bool) *automaton.DFA {
	b := builder{NFA: automaton.New()}
	start := 0
	if url {
		letter := automaton.Ranges('a', 'z')
		start = b.Text(b.Loop(b.step(0, letter), letter.Union(automaton.Ranges('0', '9', '+', '+', '-', '.'))), "://")
	}
	bare, enclosed := b.State(), b.State() // after an address without a port: the rest of the host
	b.Accept(bare)
	b.Accept(enclosed)
	after := b.step(enclosed, automaton.Single(':'))
	end := b.port(after)
	b.Accept(end)
	if url {
		for _, at := range []int{enclosed, end} {
			b.Accept(b.Loop(b.Text(at, "/"), plainPath))
		}
	}
	for _, network := range n {
		switch {
		case network.Addr().Is4():
			b.Free(b.v4(start, network), enclosed)
		default:
			for _, part := range without(network) {
				if b.Len() > largest {
					return nil
				}
				if !url {
					b.v6(start, part, bare)
				}
				inner := b.State()
				b.v6(b.Text(start, "["), part, inner)
				b.Free(b.Text(inner, "]"), enclosed)
			}
		}
	}
	return b.Compile().DFA()
}

// plainPath are bytes of paths that every parser of URLs takes literally.
var plainPath = automaton.Ranges('a', 'z', 'A', 'Z', '0', '9', '/', '/', '-', '.', '_', '_', '=', '=', '&', '&')

// without splits a network into those parts that embed no IPv4 addresses.
func without(network netip.Prefix) []netip.Prefix {
	for _, e := range embedding {
		if !network.Overlaps(e.network) {
			continue
		}
		if network.Bits() >= e.network.Bits() {
			var list []netip.Prefix
			for _, a := range embedNone {
				if network.Contains(a) {
					list = append(list, netip.PrefixFrom(a, 128))
				}
			}
			return list
		}
		low := netip.PrefixFrom(network.Addr(), network.Bits()+1)
		bytes := network.Addr().As16()
		bytes[network.Bits()/8] |= 0x80 >> (network.Bits() % 8)
		high := netip.PrefixFrom(netip.AddrFrom16(bytes), network.Bits()+1)
		return append(without(low), without(high)...)
	}
	return []netip.Prefix{network}
}

type builder struct{ *automaton.NFA }

// step adds an edge to a new state.
func (b builder) step(at int, set automaton.Set) int {
	to := b.State()
	b.Edge(at, set, to)
	return to
}

// v4 adds the addresses of an IPv4 network and returns the state after them.
func (b builder) v4(at int, network netip.Prefix) int {
	for i, octet := range network.Addr().As4() {
		if i > 0 {
			at = b.Text(at, ".")
		}
		fixed := min(max(network.Bits()-8*i, 0), 8)
		if fixed == 0 {
			at = b.octet(at)
			continue
		}
		end := b.State()
		for value := int(octet); value < int(octet)+1<<(8-fixed); value++ {
			b.Free(b.Text(at, strconv.Itoa(value)), end)
		}
		at = end
	}
	return at
}

// octet adds the numbers from 0 to 255.
func (b builder) octet(at int) int {
	digit, end := automaton.Ranges('0', '9'), b.State()
	b.Edge(at, digit, end)
	b.Edge(b.step(at, automaton.Ranges('1', '9')), digit, end)
	b.Edge(b.step(b.Text(at, "1"), digit), digit, end)
	b.Edge(b.step(b.Text(at, "2"), automaton.Ranges('0', '4')), digit, end)
	b.Edge(b.Text(at, "25"), automaton.Ranges('0', '5'), end)
	return end
}

// port adds the numbers from 1 to 65535.
func (b builder) port(at int) int {
	digit := automaton.Ranges('0', '9')
	end := b.State()
	first := b.step(at, automaton.Ranges('1', '9'))
	b.Free(first, end)
	for range 3 {
		first = b.step(first, digit)
		b.Free(first, end)
	}
	for _, top := range []struct {
		begin string
		next  rune
		more  int
	}{{"", '5', 4}, {"6", '4', 3}, {"65", '4', 2}, {"655", '2', 1}, {"6553", '5', 0}} {
		low := '0'
		if top.begin == "" {
			low = '1'
		}
		to := b.step(b.Text(at, top.begin), automaton.Ranges(low, top.next))
		for range top.more {
			to = b.step(to, digit)
		}
		b.Free(to, end)
	}
	return end
}

// v6 adds the addresses of an IPv6 network, in every way of writing groups and "::", from at to
// end.
func (b builder) v6(at int, network netip.Prefix, end int) {
	// left[i] and right[i] are the states before group i: without "::" before it, and with.
	var left, right [9]int
	for i := range left {
		left[i], right[i] = b.State(), b.State()
	}
	b.Free(at, left[0])
	b.Free(left[8], end)
	b.Free(right[8], end)
	for i := range 8 {
		for side, states := range [...]*[9]int{&left, &right} {
			read := b.group(states[i], network, i)
			if i == 7 {
				b.Free(read, states[8])
				continue
			}
			b.Edge(read, automaton.Single(':'), states[i+1])
			if side == 0 {
				b.skip(b.Text(read, "::"), network, i+1, &right)
			}
		}
	}
	b.skip(b.Text(left[0], "::"), network, 0, &right)
}

// skip adds the ways in which "::" replaces one or more groups from the given one on.
func (b builder) skip(at int, network netip.Prefix, group int, right *[9]int) {
	for ; group < 8; group++ {
		if low, fixed := bits(network, group); low>>(16-fixed) != 0 {
			return // not zero in this network
		}
		b.Free(at, right[group+1])
	}
}

// bits returns the first value of a group in a network, and how many of its bits are fixed.
func bits(network netip.Prefix, group int) (low, fixed int) {
	bytes := network.Addr().As16()
	return int(bytes[2*group])<<8 | int(bytes[2*group+1]), min(max(network.Bits()-16*group, 0), 16)
}

// group adds one group: up to four hexadecimal digits, of which leading zeros may be left out.
func (b builder) group(at int, network netip.Prefix, group int) int {
	low, fixed := bits(network, group)
	end := b.State()
	var digits [4]automaton.Set
	var zero [4]bool // whether the digit may be zero
	for i := range digits {
		nibble := low >> (12 - 4*i) & 15
		last := nibble | 15>>min(max(fixed-4*i, 0), 4)
		zero[i] = nibble == 0
		for value := nibble; value <= last; value++ {
			digits[i] = digits[i].Union(automaton.Single(rune("0123456789abcdef"[value]))).Union(automaton.Single(rune("0123456789ABCDEF"[value])))
		}
	}
	for first := range digits {
		to := at
		for _, set := range digits[first:] {
			to = b.step(to, set)
		}
		b.Free(to, end)
		if !zero[first] {
			break
		}
	}
	return end
}
