// Package usage says which words a command may have, in the manner of the synopsis of a
// manual page:
//
//	git [-C *|--no-pager] {log,show} [--oneline|-n *|-p] **
//
//	word       a glob for one word: "log", "{log,show}", "*.go". It never matches an option
//	**         any number of words that are no options
//	[a|b|...]  options that may stand anywhere from here on, each with a glob for its
//	           value if it has one: "-n *" is -n 5 and -n5, "--max *" is --max 5 and --max=5
//	[!a|b]     options that the command must not have, abbreviated or in a cluster
//	<command>  a command that this one runs, and which the rules permit by itself
//	<script>   a script of sed, awk or jq that computes and does nothing else
//	<system>   the root of the file system, a directory of the system in it, the home or one
//	           above it, or all that lies in one of them, in any spelling: `rm ** <system> **`
//	<root>     the root of the project, or the directory in which the command begins, as an
//	           absolute path: behind "cd <root> &&" paths mean what they mean without it
//	<below>    a directory below the root, where no command behind this one obeys the
//	           settings of the directory it works in: "cd <below> && ls"
//	<local>    an http URL of this machine that is not the gate's: "curl [-s] <local>"
//
// Options are words that begin with "-". A usage matches a command only if it mentions
// every option that the command has; "[-*]" mentions them all, "[--]" the end of the
// options. One letter behind one dash may stand in a cluster: [-l|-a] permits -la.
//
//	list, err := usage.Compile([]string{"git {log,show} [--oneline|-n *] **"}, false, usage.Places{Root: root})
//	if err != nil {
//		return err // *usage.Error: which usage, the byte, a message, a hint
//	}
//	list.Grants(&line, 0, nil)              // command 0 of a shell.Line certainly follows it
//	list.Suspects(line.Commands[0].Words) // it may
//
// A process that lives for one call reads usages that [Compile] found good before with
// [Checked], which looks into those of the programs that are called.
//
// What it promises: a command that is granted has no word and no option that the usage
// does not mention, whichever way its program reads them; a quoted word, and one that the
// shell may change, is never taken for a word that a usage spells.
package usage
