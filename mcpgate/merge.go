package mcpgate

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/jsonstream"
)

// sharedCapabilities are the capabilities that are merged. Experimental capabilities and
// tasks are omitted: their requests do not name a server.
var sharedCapabilities = []string{"completions", "logging", "prompts", "resources", "tools"}

// mergedInitialize returns the result of initialize for several servers.
func (g *Gateway) mergedInitialize(version string, replies []serverResult[link.Reply]) []byte {
	var o jsonrpc.Object
	o.Text("protocolVersion", version).Raw("capabilities", capabilities(replies)).Raw("serverInfo", g.implementation())
	return o.Optional("instructions", g.instructions(replies)).End()
}

// mergedDiscover returns the result of server/discover for several servers.
func (g *Gateway) mergedDiscover(replies []serverResult[link.Reply]) []byte {
	var versions []string
	for i, r := range replies {
		var these []string
		if list, ok := r.value.Message.Result.Get("supportedVersions"); ok && list.Kind() == jsonstream.Array {
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
	o.Text("resultType", "complete").Raw("supportedVersions", append(list, ']')).Raw("capabilities", capabilities(replies))
	var meta jsonrpc.Object
	o.Raw("_meta", meta.Raw("io.modelcontextprotocol/serverInfo", g.implementation()).End())
	return o.Optional("instructions", g.instructions(replies)).Int("ttlMs", 0).Text("cacheScope", "private").End()
}

// capabilities returns the union of the servers' capabilities.
func capabilities(replies []serverResult[link.Reply]) []byte {
	var all jsonrpc.Object
	for _, name := range sharedCapabilities {
		found := false
		var flags []string
		for _, r := range replies {
			declared, _ := jsonrpc.MemberOf(r.value.Message.Result, "capabilities")
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
func (g *Gateway) instructions(replies []serverResult[link.Reply]) string {
	var parts []string
	for _, r := range replies {
		if v, ok := r.value.Message.Result.Get("instructions"); ok && v.Kind() == jsonstream.String && v.Text() != "" {
			parts = append(parts, string(r.conn.server.ID)+": "+v.Text())
		}
	}
	return strings.Join(parts, "\n\n")
}
