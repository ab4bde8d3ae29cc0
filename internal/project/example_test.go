package project_test

import (
	"fmt"
	"testing/fstest"

	"github.com/stopgate/stopgate/internal/project"
)

func ExampleProject_Policy() {
	p, err := project.Read(fstest.MapFS{
		"go.mod":        {Data: []byte("module example.com/shop\n")},
		"Makefile":      {Data: []byte("build:\n\tgo build ./...\n\nlint:\n\tgolangci-lint run\n\nrelease:\n\tgit push --tags\n")},
		"api/server.go": {},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s", p.Policy())
	// Output:
	// # What agents may do in this project. Make it yours, then run: stopgate check --strict, stopgate trust
	// version = 1
	// use = ["coding", "flow", "unix", "databases-read", "go"]
	//
	// # The project's own commands run what agents write: "ask" asks before each, "unattended" lets them run.
	// [tools.Bash.policy]
	// run = [{ arg = "/command", usage_in = "project", mode = "ask", reason = "this runs code of the project" }]
	//
	// [lists]
	// project = [
	//   "go test [-v|-race|-short|-cover|-run *|-skip *|-count *|-timeout *|-bench *|-benchmem|-benchtime *|-failfast|-parallel *|-p *|-tags *|-json|-shuffle *] **", # go.mod:1
	//   "go build [-v|-race|-tags *] ./...", # go.mod:1
	//   "go vet [-v|-json|-tags *] **", # go.mod:1
	//   "make [-s|-k] {lint,build}", # Makefile:4
	// ]
	// work = ["api/**"]
}
