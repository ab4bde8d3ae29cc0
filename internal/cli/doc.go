// Package cli has the parts that all commands of stopgate share: streams, exit codes, errors with
// a remedy, flags such as --format, completion of words, and output as text or JSON.
//
// A command returns an error and does not print it. [Report] prints it once, as text on
// standard error and, with --format json, as JSON on standard output, and chooses the exit code:
//
//	return cli.Hinted(fmt.Errorf("there is no grant %q", id), "stopgate grants list prints those that hold")
package cli
