// Package location reads the locations of stores: paths of files, and URLs, which may hold a
// password.
//
//	if location.IsFile(store) {
//		_, err = os.Stat(store)
//	}
//	fmt.Println("records:", location.Show(store))
package location

import (
	"net/url"
	"strings"
)

// servers are the schemes of stores that are not files, with the kind of their store.
var servers = map[string]string{"postgres": "postgres", "postgresql": "postgres"}

// Server returns the kind of the store that a URL of a server is of, "" for every other text.
func Server(location string) string {
	scheme, rest, found := strings.Cut(location, ":")
	if !found || !strings.HasPrefix(rest, "//") {
		return ""
	}
	return servers[scheme]
}

// IsFile reports whether a location is the path of a file.
func IsFile(location string) bool { return Server(location) == "" }

// Show returns a location without its password and the other parameters of its URL, for messages
// and records.
func Show(location string) string {
	if IsFile(location) {
		return location
	}
	scheme, _, _ := strings.Cut(location, ":")
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" {
		return scheme + "://(unreadable)"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	if host := u.Query().Get("host"); u.Host == "" && host != "" { // a directory of sockets
		shown.RawQuery = url.Values{"host": {host}}.Encode()
	}
	return shown.String()
}
