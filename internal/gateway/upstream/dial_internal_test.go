package upstream

import (
	"net/netip"
	"testing"
)

// The check is after the resolver, where a test from outside would need its own name server.
//
// Proves F18.
func TestForbiddenAddresses(t *testing.T) {
	for address, forbidden := range map[string]bool{
		"127.0.0.1": false, "::1": false, "10.0.0.1": false, "192.168.1.1": false, "fd00::1": false, "93.184.216.34": false, "2606:2800:220:1::1": false,
		"169.254.169.254": true, "169.254.0.1": true, "fe80::1": true, "fe80::1%eth0": true, "::ffff:169.254.169.254": true,
		"64:ff9b::a9fe:a9fe": true, "64:ff9b::7f00:1": false, "2002:a9fe:a9fe::1": true, "2002:5db8:d822::1": false,
		"fd00:ec2::254": true, "fd20:ce::254": true, "100.100.100.200": true, "168.63.129.16": true, "192.0.0.192": true,
		"0.0.0.0": true, "::": true, "224.0.0.1": true, "ff02::1": true,
	} {
		if got := forbiddenAddress(netip.MustParseAddr(address)); got != forbidden {
			t.Errorf("%s: forbidden is %t", address, got)
		}
		target := netip.AddrPortFrom(netip.MustParseAddr(address), 443).String()
		if err := refuseAddress("tcp", target, nil); (err != nil) != forbidden {
			t.Errorf("dial %s: %v", target, err)
		}
	}
	if err := refuseAddress("tcp", "name:80", nil); err == nil {
		t.Error("an address that is no address is dialled")
	}
}
