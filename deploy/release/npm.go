package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed launch/stopgate.js
var launcher []byte

const npmReadme = "# @stopgate/cli\n\nThe programs of [stopgate](https://github.com/stopgate/stopgate), which decides for every tool call of an AI agent whether it runs:\n\n" +
	"    npx @stopgate/cli demo\n\nThe package for your system, an optional dependency, has the programs; nothing runs when packages are installed.\n" +
	"`npm install --global @stopgate/cli` before `stopgate install`, whose hooks start the program by its path.\n"

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage"`
	Engines              map[string]string `json:"engines,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Files                []string          `json:"files"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// npmPackages writes @stopgate/cli, which starts the program of the package for its system, and
// that package for each system. None has a script that runs when it is installed.
func npmPackages(r *release) error {
	main := r.manifest("")
	main.Description = "Decides whether an AI agent's tool calls may run: the programs of stopgate"
	main.Engines = map[string]string{"node": ">=20"}
	main.Bin = map[string]string{"stopgate": "bin/stopgate.js"}
	main.OptionalDependencies = map[string]string{}
	for _, s := range supported {
		main.OptionalDependencies["@stopgate/cli-"+nodeName(s)] = r.version.npm()
	}
	license, err := r.contentOf(r.systems[0], "LICENSE")
	if err != nil {
		return err
	}
	if err := r.npm("stopgate-cli", main, []file{{"bin/stopgate.js", 0o755, launcher}, {"README.md", 0o644, []byte(npmReadme)}, license}); err != nil {
		return err
	}
	for _, s := range r.systems {
		var content []file
		for _, name := range []string{"stopgate", "stopgate-hook", "LICENSE", "THIRD-PARTY-NOTICES"} {
			f, err := r.contentOf(s, name)
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			if f.mode == 0o755 {
				f.name = "bin/" + name
			}
			content = append(content, f)
		}
		m := r.manifest("-" + nodeName(s))
		m.Description = fmt.Sprintf("The programs of stopgate for %s", s)
		m.OS, m.CPU = []string{s.os}, []string{nodeArch(s)}
		if err := r.npm("stopgate-cli-"+nodeName(s), m, content); err != nil {
			return err
		}
	}
	return nil
}

// nodeArch is the name of a processor in Node.
func nodeArch(s system) string {
	if s.arch == "amd64" {
		return "x64"
	}
	return s.arch
}

func nodeName(s system) string { return s.os + "-" + nodeArch(s) }

func (r *release) manifest(suffix string) manifest {
	return manifest{Name: "@stopgate/cli" + suffix, Version: r.version.npm(), License: "Apache-2.0", Homepage: "https://github.com/stopgate/stopgate", Files: []string{"bin", "THIRD-PARTY-NOTICES"}}
}

// contentOf returns one of the files for a system.
func (r *release) contentOf(s system, name string) (file, error) {
	files, err := r.content(s)
	if err != nil {
		return file{}, err
	}
	for _, f := range files {
		if f.name == name {
			return f, nil
		}
	}
	return file{}, fmt.Errorf("there is no %s", name)
}

// npm writes a package as `npm pack` does, under its name for files.
func (r *release) npm(name string, m manifest, content []file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	packed, err := r.tarball("package", append([]file{{"package.json", 0o644, append(text, '\n')}}, content...))
	if err != nil {
		return err
	}
	return r.write(name+"-"+r.version.npm()+".tgz", packed)
}
