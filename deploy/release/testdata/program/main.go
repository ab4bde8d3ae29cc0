// Command program plays the programs of stopgate in the tests of packages: it reports the version that
// it was built with, and fails without a command.
package main

import (
	"fmt"
	"os"

	"aead.dev/minisign"
)

var version = "none"

func main() {
	if len(os.Args) != 2 || os.Args[1] != "version" {
		fmt.Fprintln(os.Stderr, "want version:", os.Args[1:], minisign.EdDSA)
		os.Exit(3)
	}
	fmt.Println("stopgate " + version + " linux/amd64")
}
