// Command program plays the programs of stopgate in the tests of packages: it reports the version that
// it was built with and what packs it is given, and fails without a command.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

var version = "none"

func main() {
	switch words := strings.Join(os.Args[1:], " "); {
	case words == "version":
		fmt.Println("stopgate " + version + " linux/amd64")
	case words == "uninstall --list", words == "stop --all --dry-run": // what a test says
		text, _ := os.ReadFile(filepath.Join(os.Getenv("HOME"), strings.Fields(words)[0]))
		if fmt.Print(string(text)); string(text) == "fail" {
			os.Exit(1)
		}
	case strings.HasPrefix(words, "packs diff "):
		text, err := os.ReadFile(filepath.Join(os.Args[3], "go.toml"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("## go: differs\n\n%s\n", text)
	default:
		fmt.Fprintln(os.Stderr, "want version:", os.Args[1:], minisign.EdDSA)
		os.Exit(3)
	}
}
