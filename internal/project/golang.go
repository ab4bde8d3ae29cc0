package project

import "slices"

// Options of go that choose what is built and tested. Those that name another program or a file to write
// (-exec, -toolexec, -o, -coverprofile, -modfile, -overlay) are none of them.
const (
	goTestOptions  = "[-v|-race|-short|-cover|-run *|-skip *|-count *|-timeout *|-bench *|-benchmem|-benchtime *|-failfast|-parallel *|-p *|-tags *|-json|-shuffle *]"
	goBuildOptions = "[-v|-race|-tags *]"
)

func goCommands(t *tree, dir string) []Command {
	text := t.read(dir, "go.mod")
	if text == nil {
		return nil
	}
	program := "go"
	if dir != "." {
		if t.has(".", "go.work") {
			return nil // "go test ./..." in the root tests what the workspace says
		}
		program += " -C " + dir
	}
	source := place(dir, "go.mod", max(1, find(text, "module ")))
	list := []Command{
		{Test, program + " test ./...", program + " test " + goTestOptions + " **", source, ""},
		{Build, program + " build ./...", program + " build " + goBuildOptions + " ./...", source, ""},
		{Lint, program + " vet ./...", program + " vet [-v|-json|-tags *] **", source, ""},
	}
	for _, name := range t.files(dir, ".golangci.*") {
		if dir == "." && slices.Contains([]string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"}, name) {
			list = append(list, Command{Lint, "golangci-lint run", "golangci-lint run [-v|--fast|--timeout *] **", place(dir, name, 1), ""})
		}
	}
	return list
}

func rustCommands(t *tree, dir string) []Command {
	text := t.read(dir, "Cargo.toml")
	if text == nil || dir != "." {
		return nil // "cargo -p NAME" in the root tests the crates of a workspace
	}
	source := place(dir, "Cargo.toml", max(1, find(text, "[package]"), find(text, "[workspace]")))
	const options = "[-q|--quiet|-v|--verbose|-p *|--package *|--workspace|--all|--all-targets|--all-features|--features *|--no-default-features|--lib|--bins|--tests|--examples|--doc|--test *|--bin *|--release|--locked|--offline|--frozen|--no-run|--no-fail-fast|-j *]"
	return []Command{
		{Test, "cargo test", "cargo test " + options + " **", source, ""},
		{Build, "cargo build", "cargo {build,check} " + options, source, ""},
		{Lint, "cargo clippy", "cargo clippy " + options, source, ""},
	}
}
