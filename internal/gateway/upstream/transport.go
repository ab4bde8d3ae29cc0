package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// newTransport returns the connection pool of one upstream. It adds no compression, follows no
// redirects, and refuses to dial addresses that are not model providers (F18).
func newTransport(u *Options) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: u.Timeouts.Connect, KeepAlive: 30 * time.Second, Control: refuseAddress}
	trusted, err := authorities(u.Authorities)
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream %s: %w", u.ID, err)
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    u.Timeouts.Connect,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		MaxConnsPerHost:        u.Connections,
		TLSClientConfig:        trusted,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		ReadBufferSize:         ReadBuffer,
		WriteBufferSize:        2 << 10, // enough for a request header; bodies are not buffered
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}, nil
}

// authorities returns a TLS configuration that trusts additional certificates, or nil.
func authorities(pem string) (*tls.Config, error) {
	if pem == "" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil, errors.New("no certificate in the text of its authorities")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// refuseAddress is called with each resolved address before dialling, so that names which resolve
// to a forbidden address are refused too.
func refuseAddress(network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s %s: %w", network, address, err)
	}
	if forbiddenAddress(target.Addr()) {
		return fmt.Errorf("dial %s: link-local, multicast and metadata addresses are refused", target.Addr())
	}
	return nil
}

// metadata are the addresses of cloud metadata services that are not link-local.
var metadata = [...]netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon, IPv6
	netip.MustParseAddr("fd20:ce::254"),    // Google, IPv6
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("192.0.0.192"),     // Oracle
}

// nat64 and sixToFour embed IPv4 addresses in IPv6 addresses.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// forbiddenAddress reports whether an address must not be dialled: link-local and metadata
// addresses in every form that reaches them. Loopback and private addresses are allowed, because
// models run there.
func forbiddenAddress(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	b := ip.As16()
	switch {
	case nat64.Contains(ip):
		ip = netip.AddrFrom4([4]byte(b[12:16]))
	case sixToFour.Contains(ip):
		ip = netip.AddrFrom4([4]byte(b[2:6]))
	}
	for _, m := range metadata {
		if ip == m {
			return true
		}
	}
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified()
}
