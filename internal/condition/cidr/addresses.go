package cidr

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/weburl"
)

// plainAddress parses an address in its usual notation, with a port or without: 10.1.2.3,
// 10.1.2.3:80, fd00::1, [fd00::1], [fd00::1]:80. It has no zone, which selects an interface, and no
// IPv4 address at the end of an IPv6 address.
func plainAddress(text string) (netip.Addr, bool) {
	host, port, has := strings.Cut(text, "]:")
	switch inner, bracket := strings.CutPrefix(text, "["); {
	case bracket && has:
		host = host[1:]
	case bracket:
		inner, closed := strings.CutSuffix(inner, "]")
		host, port, has = inner, "", false
		if !closed {
			return netip.Addr{}, false
		}
	case strings.Count(text, ":") == 1:
		host, port, has = strings.Cut(text, ":")
	default:
		host, port, has = text, "", false
	}
	a, err := netip.ParseAddr(host)
	v6 := strings.Contains(host, ":")
	switch {
	case err != nil, a.Zone() != "", v6 && strings.Contains(host, "."):
		return netip.Addr{}, false
	case has && (!weburl.IsPort([]byte(port)) || v6 != strings.HasPrefix(text, "[")), !v6 && text[0] == '[':
		return netip.Addr{}, false
	}
	return a, true
}

// plainHost returns the host of a URL that every parser reads in the same way.
func plainHost(url []byte) (host string, ok bool) {
	u, ok := weburl.Parse(url)
	return string(u.Host), ok && u.HasHost
}

// embedding are the networks of IPv6 addresses that embed an IPv4 address, by the byte at which it
// begins: IPv4-compatible and IPv4-mapped addresses, those of NAT64 (RFC 6052, RFC 8215) and 6to4.
var embedding = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("::ffff:0:0/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// embedNone are the addresses of ::/96 that embed no IPv4 address.
var embedNone = []netip.Addr{netip.IPv6Unspecified(), netip.IPv6Loopback()}

// embedded returns the IPv4 addresses that an IPv6 address embeds.
func embedded(a netip.Addr) (list []netip.Addr) {
	if a.Is4() || slices.Contains(embedNone, a) {
		return nil
	}
	for _, e := range embedding {
		if e.network.Contains(a) {
			bytes := a.As16()
			list = append(list, netip.AddrFrom4([4]byte(bytes[e.at:e.at+4])))
		}
	}
	return list
}

// readings returns every address as which some program could read a text, or the host of the URL
// that the text could be.
func readings(text string) (list []netip.Addr) {
	add := func(text string) {
		text, _, _ = strings.Cut(strings.Trim(text, "[]"), "%")
		if a, err := netip.ParseAddr(text); err == nil {
			list = append(list, a)
		}
	}
	for _, t := range weburl.Texts(text) {
		end := strings.IndexAny(t, "/%?# ")
		if end < 0 {
			end = len(t)
		}
		add(t[:end]) // an IPv6 address without brackets
		for _, u := range weburl.Loose(t) {
			for _, h := range u.Hosts {
				add(h.Name)
				if h.Name == "localhost" || strings.HasSuffix(h.Name, ".localhost") {
					list = append(list, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
				}
			}
		}
	}
	return list
}
