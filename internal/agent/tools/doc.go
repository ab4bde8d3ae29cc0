// Package tools implements the tools of the terminal agent: they read, list, search,
// create, modify, move and delete files below one directory, run commands, and run the
// local tools that the policy file declares.
//
//	set, err := tools.New(tools.Options{Dir: ".", Readable: readable})
//	defer set.Close()
//	result := set.Run(ctx, "fs_read_file", `{"path":"README.md"}`)
//
// File tools access only files in their directory and follow no symbolic links, because the
// policy evaluated the name and not its target. A call whose access is limited touches only the
// files that it permits; a limited command does not run. Searches return only files that the policy
// allows to be read. A command runs in its own process group without a terminal and
// standard input; the group is killed at the timeout or when the user interrupts it.
// Results above a limit are truncated in the middle, with a note. Arguments are parsed
// strictly; on any doubt a tool fails.
package tools
