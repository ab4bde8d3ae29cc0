package config

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:generate go run ./generate

//go:embed starter.toml
var starter []byte

// Starter returns the policy that applies when no policy file is found (S50):
// every change is asked, and guards keep secrets and settings out of reach.
func Starter() []byte { return starter }

// The policies that init writes: starter_KIND.toml, the cases that test it, and the
// definitions of the tools that the cases call.
//
//go:embed starter_*
var kinds embed.FS

// StarterFile is one file that a new policy begins with.
type StarterFile struct {
	Name string
	Text []byte
}

// Kinds lists the kinds of work that have a starter policy.
func Kinds() []string {
	entries, _ := kinds.ReadDir(".") // of a directory that is compiled in
	var list []string
	for _, e := range entries {
		kind, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "starter_"), ".toml")
		if ok && !strings.Contains(kind, ".") {
			list = append(list, kind)
		}
	}
	slices.Sort(list)
	return list
}

// StarterFor returns the files of a kind, the policy first.
func StarterFor(kind string) ([]StarterFile, error) {
	if !slices.Contains(Kinds(), kind) {
		return nil, fmt.Errorf("there is no starter policy for %q; there are: %s", kind, strings.Join(Kinds(), ", "))
	}
	var files []StarterFile
	for _, f := range []struct{ suffix, name string }{
		{".toml", FileName}, {".test.toml", "stopgate.test.toml"}, {".tools.json", "stopgate.tools.json"},
	} {
		text, err := kinds.ReadFile("starter_" + kind + f.suffix)
		if err != nil {
			return nil, fmt.Errorf("starter policy for %s: %w", kind, err)
		}
		files = append(files, StarterFile{f.name, text})
	}
	return files, nil
}
