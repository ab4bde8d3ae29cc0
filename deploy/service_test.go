package deploy_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// The file is one that compose reads, its gates have no rights and share a database that has no
// way out, and without a password it does not begin.
func TestCompose(t *testing.T) {
	load := func(env ...string) error {
		options, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithEnv(env), cli.WithResolvedPaths(true))
		if err != nil {
			t.Fatal(err)
		}
		project, err := options.LoadProject(context.Background())
		if err != nil {
			return err
		}
		gate, err := project.GetService("gate")
		if err != nil {
			t.Fatal(err)
		}
		if *gate.Deploy.Replicas != 3 || !gate.ReadOnly || !slices.Equal(gate.CapDrop, []string{"ALL"}) || *gate.Environment["PGPASSWORD"] != "secret" {
			t.Errorf("%+v", gate)
		}
		for name, service := range project.Services {
			for _, port := range service.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("%s listens on %q", name, port.HostIP)
				}
			}
			for network := range service.Networks {
				if name == "database" && !bool(project.Networks[network].Internal) {
					t.Errorf("the database is in the network %s", network)
				}
			}
		}
		return nil
	}
	if err := load("DATABASE_PASSWORD=secret", "STOPGATE_TOKEN=sg_1"); err != nil {
		t.Error(err)
	}
	for missing, env := range map[string]string{"a token": "DATABASE_PASSWORD=secret", "the password": "STOPGATE_TOKEN=sg_1"} {
		if err := load(env); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("with %s alone: %v", env, err)
		}
	}
}

// systemd reads the units without a warning, and the service is as closed as it can be.
func TestUnits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd is of Linux")
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatal("install systemd-analyze (apt-get install systemd)")
	}
	analyze := func(args ...string) string {
		out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	program := regexp.MustCompile(`(?m)^ExecStart=\S+`) // one that is on this machine
	for _, name := range []string{"stopgate.service", "stopgate-hook.service"} {
		text, err := os.ReadFile(filepath.Join("systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		unit := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(unit, program.ReplaceAll(text, []byte("ExecStart=/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := analyze("verify", unit); out != "" {
			t.Errorf("%s: %s", name, out)
		}
		if name == "stopgate.service" {
			analyze("security", "--offline=true", "--threshold=20", unit)
		}
	}
}

// The policies of one gate and of a fleet are those that the chart makes.
func TestPolicies(t *testing.T) {
	comment := regexp.MustCompile(`(?m)^#.*\n`)
	for name, text := range map[string]string{
		"stopgate.toml": "mode: sidecar\nagent: { name: a, image: b }",
		"fleet.toml":    "store: { url: 'postgres://stopgate@database:5432/stopgate?sslmode=disable' }",
	} {
		objects, err := render(t, text)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := comment.ReplaceAllString(policyOf(t, objects), "")
		if got := comment.ReplaceAllString(string(file), ""); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s:\n%s\nthe chart's:\n%s", name, got, want)
		}
	}
}
