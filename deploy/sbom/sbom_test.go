package sbom

import (
	"bytes"
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// Proves that the list has every module of a program, and is the same when it is made again.
func TestList(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", program, "../release/testdata/program").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := List("v1", []string{program})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := List("v1", []string{program, program}); err != nil || !bytes.Equal(text, again) {
		t.Errorf("made twice: %v", err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range *bom.Components {
		versions[c.Name] = c.Version
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) == 0 || len(versions) != len(info.Deps)+1 || versions["std"] == "" || bom.Metadata.Component.Version != "v1" {
		t.Errorf("%d components of %d modules: %v", len(versions), len(info.Deps), versions)
	}
	for _, m := range info.Deps {
		if versions[m.Path] != m.Version {
			t.Errorf("%s is %q, want %s", m.Path, versions[m.Path], m.Version)
		}
	}
	if _, err := List("v1", []string{filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a list of no program")
	}
}
