// Package effect returns what the commands of a parsed line do with files: the paths that their words
// name and how they use them ([Paths]), and the files that they take without being named ([Sweeps]).
//
//	var l shell.Line
//	l.Read([]byte("cp -r src build"))
//	effect.Paths(&l.Commands[0], func(path *shell.Word, use effect.Use, redirected bool) bool { ... })
//
// It does not read disks. What it knows of a program is its row in package programs.
package effect
