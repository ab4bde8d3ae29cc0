package merge

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// sharedCapabilities are the capabilities that are merged. Experimental capabilities and
// tasks are omitted: their requests do not name a server.
var sharedCapabilities = []string{"completions", "logging", "prompts", "resources", "tools"}

// Part is the result of one server.
type Part struct {
	Server stopgate.ServerID
	Result jsonstream.Value
}

// Initialize returns the result of initialize for several servers: the lowest version and the
// union of the capabilities. implementation is the gateway's own serverInfo.
func Initialize(parts []Part, implementation []byte) (version string, result []byte) {
	for _, p := range parts {
		if v := jsonrpc.TextOf(p.Result, "protocolVersion"); version == "" || v < version {
			version = v
		}
	}
	var o jsonrpc.Object
	o.Text("protocolVersion", version).Raw("capabilities", capabilities(parts)).Raw("serverInfo", implementation)
	return version, o.Optional("instructions", instructions(parts)).End()
}

// Discover returns the result of server/discover for several servers: the versions that all of
// them support and the union of the capabilities.
func Discover(parts []Part, implementation []byte) []byte {
	var versions []string
	for i, r := range parts {
		var these []string
		if list, ok := r.Result.Get("supportedVersions"); ok && list.Kind() == jsonstream.Array {
			for v := range list.Elements() {
				if v.Kind() == jsonstream.String {
					these = append(these, v.Text())
				}
			}
		}
		if i == 0 {
			versions = these
		} else {
			versions = slices.DeleteFunc(versions, func(v string) bool { return !slices.Contains(these, v) })
		}
	}
	list := []byte("[")
	for i, v := range versions {
		if i > 0 {
			list = append(list, ',')
		}
		list = jsonstream.AppendQuote(list, v)
	}
	var o jsonrpc.Object
	o.Text("resultType", "complete").Raw("supportedVersions", append(list, ']')).Raw("capabilities", capabilities(parts))
	var meta jsonrpc.Object
	o.Raw("_meta", meta.Raw("io.modelcontextprotocol/serverInfo", implementation).End())
	return o.Optional("instructions", instructions(parts)).Int("ttlMs", 0).Text("cacheScope", "private").End()
}

// capabilities returns the union of the servers' capabilities.
func capabilities(parts []Part) []byte {
	var all jsonrpc.Object
	for _, name := range sharedCapabilities {
		found := false
		var flags []string
		for _, r := range parts {
			declared, _ := jsonrpc.MemberOf(r.Result, "capabilities")
			one, ok := jsonrpc.MemberOf(declared, name)
			if !ok {
				continue
			}
			found = true
			for key, v := range one.Members() {
				if flag := key.Text(); v.Kind() == jsonstream.True && !slices.Contains(flags, flag) {
					flags = append(flags, flag)
				}
			}
		}
		if name == "tools" && !slices.Contains(flags, "listChanged") {
			// The tools can change whenever a server reconnects or the policy changes.
			found, flags = true, append(flags, "listChanged")
		}
		if !found {
			continue
		}
		var o jsonrpc.Object
		for _, flag := range flags {
			o.Bool(flag, true)
		}
		all.Raw(name, o.End())
	}
	return all.End()
}

// instructions joins the instructions of all servers.
func instructions(parts []Part) string {
	var texts []string
	for _, r := range parts {
		if v, ok := r.Result.Get("instructions"); ok && v.Kind() == jsonstream.String && v.Text() != "" {
			texts = append(texts, string(r.Server)+": "+v.Text())
		}
	}
	return strings.Join(texts, "\n\n")
}
