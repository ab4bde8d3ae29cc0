// Package merge asks several MCP servers at once and merges their responses into one.
//
//	answers := merge.Gather(ctx, &work, servers, ask, nil)
//	list := merge.List{Member: "tools", TTL: maxTTL}
//	for _, a := range answers {
//		list.Add(a.Value)
//	}
//	result := list.Result(modern)
//
// A server that does not respond does not affect the others.
package merge
