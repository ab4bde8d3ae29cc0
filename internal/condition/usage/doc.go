// Package usage checks which words a command may have. A usage resembles the synopsis of a manual
// page:
//
//	git [-C *|--no-pager] {log,show} [--oneline|-n *|-p] **
//
//	word       a glob for one word: "log", "{log,show}", "*.go". It never matches an option
//	**         any number of words that are no options
//	[a|b|...]  options that may be used anywhere from here on, each with a glob for its
//	           value if it has one: "-n *" is -n 5 and -n5, "--max *" is --max 5 and --max=5
//	[!a|b]     options that the command must not have, abbreviated or in a cluster
//	<command>  a command that this one runs, which the rules must permit by itself
//	<script>   a script of sed, awk or jq that only computes
//	<system>   the root of the file system, a directory of the system in it, the home directory
//	           or one above it, or everything in one of them, in any spelling:
//	           `rm ** <system> **`
//	<root>     the root of the project, or the directory in which the command begins, as an
//	           absolute path: paths after "cd <root> &&" have the same meaning as without it
//	<below>    a directory below the root, where no later command obeys the settings of the
//	           directory it works in: "cd <below> && ls"
//	<local>    an http URL of this machine that is not the gate's: "curl [-s] <local>"
//
// Options are words that begin with "-". A usage matches a command only if it mentions every option
// that the command has; "[-*]" mentions them all, "[--]" the end of the options. A single letter
// after a single dash may be in a cluster: [-l|-a] permits -la.
//
//	list, err := usage.Compile([]string{"git {log,show} [--oneline|-n *] **"}, false, usage.Placeholders{Root: root})
//	if err != nil {
//		return err // *usage.Error: which usage, the byte, a message, a hint
//	}
//	list.Grants(&line, 0, nil) // command 0 of a shell.Line certainly follows it
//	program := usage.ReadProgram(&line.Commands[0].Words[0])
//	list.Suspects(&program, line.Commands[0].Words[1:], nil) // it may
//
// A process that evaluates one call uses [Checked] for usages that [Compile] has accepted before:
// it parses only those of the programs that are called.
//
// A granted command has no word and no option that the usage does not mention, whichever way its
// program reads them. A quoted word, and one that the shell may change, never matches a word that
// the usage spells out.
package usage
