package match_test

import (
	"net/url"
	"strings"
)

// oracleHost reads a URL with Go's parser.
func oracleHost(value string) (host string, ok bool) {
	u, err := url.Parse(value)
	if err != nil || u.User != nil {
		return "", false
	}
	return strings.ToLower(u.Hostname()), true
}
