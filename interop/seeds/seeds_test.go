// Package seeds runs a script for each design that stopgate implements. A script knows the built
// program and HTTP, and nothing of the Go packages: it is written with Python's standard library.
package seeds

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/interop/gate"
)

// Proves D25-02, D25-09, D25-10, D25-13, D25-14, D25-18, D25-19, D25-32, D25-45, D26-07, D26-10, D26-21,
// D26-22, D26-23, D26-25, F043-03, F043-08, F043-09, TPS-04, TPS-08, TPS-13, TPS-14, TPS-17, TPS-21, TPS-25,
// TPS-27, TPS-30, V3-18, V3-19, V3-20, V3-22, V3-27, V3-29, G2-02, G2-08, G2-13, G2-15, G2-16: the main
// behaviours of each design, end to end.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("*.py")
	if err != nil || len(scripts) != 7 {
		t.Fatal(scripts, err)
	}
	program := gate.Build(t)
	python := filepath.Join("..", ".venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		python = "python3"
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(script, ".py")
		if name == "kit" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if out, err := exec.CommandContext(ctx, python, script, program).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
