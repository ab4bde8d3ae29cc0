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
//	harmless = true                 # no changes, no disclosure outside of the project
//	effect = false                  # where it differs from what the class has: write, run and other
//	source = "..."                  # where it differs from the product's
//	varies = ["pattern"]            # values that a grant need not compare, see [Varying]
//	parameters = { pattern = "value", path = "folder", "files[]" = "path", "files[].path" = "path" }
//
// "name[]" is a list of such values, "name.member" an object with such a member,
// "name[].member" a list of them, "name[].member[]" one whose members are lists.
// The kinds are those of [Kind], the classes those of [Class].
//
// A row that is found by the name of a tool alone gives only types that its parameters may
// have: a different tool can have the same name. No verdict may become weaker because of it.
// [ForHost] and [ForServer] find rows of tools whose origin the caller knows.
//
// The first line of a row holds its names. Rows and products are parsed when they are needed.
package knowntools
