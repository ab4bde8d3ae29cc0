// Package knowntools is the table of tools whose parameters are known by name: those of
// coding agents and of MCP servers. Each product is a file below data:
//
//	version = 1                     # of this form
//	product = "crush"
//	title = "crush"
//	source = "package and version, or contract, that the rows were read from"
//	hosts = ["crush"]               # host adapters whose built-in tools these are
//	servers = ["filesystem"]        # names of MCP servers that offer these tools
//	includes = ["claude-code"]      # products whose rows hold where this one has none
//
//	[[tool]]
//	names = ["grep"]                # the first is the usual one
//	class = "search"                # the strongest effect of its calls
//	starters = { coding = ["grep"] } # the names that starter policies list; they are generated
//	harmless = true                 # changes nothing, reveals nothing outside of the project
//	source = "..."                  # where it differs from the product's
//	parameters = { pattern = "value", path = "folder", "files[]" = "path", "files[].path" = "path" }
//
// "name[]" is a list of such values, "name.member" an object with such a member,
// "name[].member" a list of them.
// The kinds are those of [Kind], the classes those of [Class].
//
// A row found by the name of a tool alone says only what its parameters may mean: a
// stranger's tool can have the same name. Nothing may become more permissive because of it.
// [ForHost] and [ForServer] find rows of tools whose origin the caller knows.
//
// The names are the first line of a row. What is asked for is parsed then, one row or all.
package knowntools
