package hook_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
)

// Proves S40, K0c: guards evaluate the files of a patch in every host with patches. A patch in two
// members of the arguments, that is no text, or next to a list of files is rejected.
func TestCarriersOfPatches(t *testing.T) {
	p := program(t, searching)
	patch := func(file string) string {
		return `"*** Begin Patch\n*** Update File: ` + file + `\n@@\n-a\n+b\n*** End Patch\n"`
	}
	for name, member := range map[string]string{"codex": "command", "copilot-cli": "input", "opencode": "patchText", "pi": "patchText", "generic": "input"} {
		h := host(t, name)
		other := "patch"
		if name == "copilot-cli" || name == "codex" {
			other = map[string]string{"codex": "input", "copilot-cli": "command"}[name]
		}
		for _, c := range []struct{ name, args, want string }{
			{"a free file", `{"` + member + `":` + patch("src/a.go") + `}`, runs},
			{"under its other name", `{"` + other + `":` + patch("src/a.go") + `}`, runs},
			{"a guarded file", `{"` + member + `":` + patch("conf/secret/a") + `}`, blocks},
			{"a guarded file under the other name", `{"` + other + `":` + patch("conf/secret/a") + `}`, blocks},
			{"twice, the second one free", `{"` + member + `":` + patch("conf/secret/a") + `,"` + other + `":` + patch("src/a.go") + `}`, blocks},
			{"twice, the first one free", `{"` + member + `":` + patch("src/a.go") + `,"` + other + `":` + patch("conf/secret/a") + `}`, blocks},
			{"twice, both free", `{"` + member + `":` + patch("src/a.go") + `,"` + other + `":` + patch("src/b.go") + `}`, blocks},
			{"no text", `{"` + member + `":[` + patch("src/a.go") + `]}`, blocks},
			{"no patch", `{"` + member + `":"rm -rf /"}`, blocks},
			{"with files of its own", `{"` + member + `":` + patch("src/a.go") + `,"patch_paths":["src/a.go"]}`, blocks},
		} {
			r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event(name, "apply_patch", c.args))
			if got := hostDoes(name, r); got != c.want {
				t.Errorf("%s: %s: the host %s, want %s: %s%s", name, c.name, got, c.want, r.Stdout, r.Stderr)
			}
		}
	}
}
