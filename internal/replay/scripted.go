package replay

import (
	"embed"
	"fmt"
	"path"
)

//go:embed scenarios/*.scenario
var scripts embed.FS

// Scenarios returns the built-in scripts, stopgate-demo first.
func Scenarios() ([]*Scenario, error) {
	var list []*Scenario
	for _, name := range []string{"demo", "denied", "text"} {
		file := path.Join("scenarios", name+".scenario")
		text, err := scripts.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		s, err := ParseScenario(file, text)
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		list = append(list, s)
	}
	return list, nil
}
