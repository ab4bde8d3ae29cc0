// Package tools are what the terminal agent can do: read, list, search, create, modify,
// move and delete files below one directory, run commands, and run what the policy file
// declares as local.
//
//	set, err := tools.New(tools.Options{Dir: ".", Readable: readable})
//	defer set.Close()
//	result := set.Run(ctx, "fs_read_file", `{"path":"README.md"}`)
//
// What it promises: a file tool touches nothing outside of its directory, and nothing
// through a symbolic link, because the policy judged the name and not what it leads to;
// a search shows only files that the policy lets be read by name. A command runs in a
// process group of its own, without a terminal and without standard input; when its
// time is over, or the person ends it, the group is killed. What is longer than a limit
// is cut in the middle, and the result says so. Arguments are read strictly; a tool
// fails rather than guess.
package tools
