package upstream

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Check reports whether a gateway can use the upstream.
func (u Options) Check() error {
	_, err := u.address()
	return err
}

// address parses the base URL.
func (u Options) address() (*url.URL, error) {
	base, err := url.Parse(u.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream %s: %w", u.ID, err)
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("gateway: upstream %s: base URL %q: want http://HOST or https://HOST", u.ID, u.BaseURL)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "" || base.RawPath != "":
		return nil, fmt.Errorf("gateway: upstream %s: the base URL has no user, query or fragment", u.ID)
	}
	if ip, err := netip.ParseAddr(base.Hostname()); err == nil && forbiddenAddress(ip) {
		return nil, fmt.Errorf("gateway: upstream %s: %s is a link-local, multicast or metadata address", u.ID, ip)
	}
	if u.Key != "" && base.Scheme == "http" && !Loopback(base.Hostname()) {
		return nil, fmt.Errorf("gateway: upstream %s: a key is not sent over plain http", u.ID)
	}
	return base, nil
}

// Loopback reports whether a host is a loopback address.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
