package naive

import (
	"slices"
	"strconv"
	"strings"
)

// addresses are texts by hand: the IPv4 address that some program reads in them.
var addresses = map[string]string{
	"10.1.2.3": "10.1.2.3", "10.1.2.3:443": "10.1.2.3", "127.0.0.1": "127.0.0.1", "192.168.0.1": "192.168.0.1", "110.1.2.3": "110.1.2.3",
	"10.1.2.3.": "10.1.2.3", " 10.1.2.3": "10.1.2.3", "2130706433": "127.0.0.1", "0x7f.1": "127.0.0.1", "012.1.2.3": "10.1.2.3",
	"[::ffff:10.1.2.3]": "10.1.2.3", "64:ff9b::a01:203": "10.1.2.3", "localhost": "127.0.0.1", "10.1.2.3:65536": "10.1.2.3",
	"http://10.1.2.3/x": "10.1.2.3", "http://10.1.2.3:80": "10.1.2.3", "http://2130706433/": "127.0.0.1", "http://user@127.0.0.1/": "127.0.0.1",
	"http://LOCALHOST/": "127.0.0.1", "http://[::ffff:7f00:1]/": "127.0.0.1", "10.1.2.256": "", "example.com": "", "http://example.com/10.1.2.3": "", "": "",
}

// cidr knows networks that end at a byte, and addresses by hand.
var cidr = Twin{
	Literals: []string{"10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "0.0.0.0/0", "10.1.2.0/24", "fd00::/8"},
	Values:   map[string][]string{"": written(func(text string) bool { return !strings.Contains(text, "//") }), "url": written(func(string) bool { return true })},
	Holds: func(literal, value, annotation string, permissive bool) bool {
		address := addresses[value]
		switch {
		case address == "" || !strings.HasPrefix(address+".", network(literal)):
			return false
		case !permissive:
			return true
		case annotation == "url":
			return value == "http://"+address+"/x" || value == "http://"+address+":80"
		}
		return value == address || value == address+":443"
	},
	Begins: begins,
}

// network is what the addresses of a network begin with, and a text that none does for IPv6.
func network(literal string) string {
	address, bits, _ := strings.Cut(literal, "/")
	length, _ := strconv.Atoi(bits)
	if strings.Contains(address, ":") {
		return "none"
	}
	var prefix string
	for _, octet := range strings.Split(address, ".")[:length/8] {
		prefix += octet + "."
	}
	return prefix
}

func written(fits func(string) bool) (all []string) {
	for text := range addresses {
		if fits(text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// begins says whether an address in its usual notation, with a port or without, may begin so.
func begins(literal, begun string) bool {
	prefix := network(literal)
	if prefix == "none" { // of fd00::/8 only the brackets and two digits are known by heart
		begun = strings.ToLower(strings.TrimPrefix(begun, "["))
		return strings.HasPrefix("fd", begun)
	}
	address, port, has := strings.Cut(begun, ":")
	octets := strings.Split(address, ".")
	for i, octet := range octets {
		n, err := strconv.Atoi(octet)
		partial := i == len(octets)-1 && !has
		if octet == "" && partial {
			continue
		}
		if err != nil || i > 3 || n > 255 || strconv.Itoa(n) != octet {
			return false
		}
	}
	if has {
		n, err := strconv.Atoi(port)
		return len(octets) == 4 && strings.HasPrefix(address+".", prefix) && (port == "" || err == nil && n > 0 && n < 65536 && strconv.Itoa(n) == port)
	}
	if len(octets) == 4 {
		address += "."
	}
	return len(octets) <= 4 && (strings.HasPrefix(prefix, address) || strings.HasPrefix(address, prefix))
}
