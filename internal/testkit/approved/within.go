package approved

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// within names what a call is about, as far as a generalisation may reach: its tool, the first directories of its
// paths, the first two words of its commands and the hosts of its URLs.
func within(c Call) string {
	var args any
	if json.Unmarshal(c.Args, &args) != nil {
		return c.Tool + " " + string(c.Args)
	}
	var about []string
	collect("", args, &about)
	slices.Sort(about)
	return c.Tool + " " + strings.Join(slices.Compact(about), " ")
}

// collect adds what the texts in a value name.
func collect(name string, v any, about *[]string) {
	switch x := v.(type) {
	case map[string]any:
		for member, each := range x {
			collect(member, each, about)
		}
	case []any:
		for _, each := range x {
			collect(name, each, about)
		}
	case string:
		name = strings.ToLower(name)
		has := func(words ...string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
		}
		switch u, err := url.Parse(x); {
		case err == nil && u.Host != "":
			*about = append(*about, fmt.Sprintf("host=%q", u.Host))
		case has("path", "file", "dir", "folder"):
			first, _, _ := strings.Cut(strings.TrimPrefix(x, "/"), "/")
			*about = append(*about, fmt.Sprintf("directory=%q", first))
		case has("command", "cmd"):
			words := strings.Fields(x)
			*about = append(*about, fmt.Sprintf("command=%q", words[:min(len(words), 2)]))
		}
	}
}
