package image

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// WriteRoot writes the files of the layer, with its modes, whatever the mask is.
func TestRoot(t *testing.T) {
	from := filepath.Join(programs(t), "linux-amd64")
	licences := map[string][]byte{"LICENSE": []byte("Apache")}
	layer, err := layerOf(from, time.Unix(1_700_000_000, 0), licences)
	if err != nil {
		t.Fatal(err)
	}
	content, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	want := filesOf(t, content)
	for _, mask := range []int{0, 0o077} {
		out := t.TempDir()
		before := syscall.Umask(mask)
		err := WriteRoot(out, from, licences)
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		err = filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
			if err != nil || path == out {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(out, path)
			text := ""
			if e.IsDir() {
				name += "/"
			} else if all, err := os.ReadFile(path); err != nil {
				return err
			} else {
				text = string(all)
			}
			got[name] = text + "\x00" + octal(info.Mode())
			return nil
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("mask %o: %v, %d files, want %d", mask, err, len(got), len(want))
		}
	}
	if err := WriteRoot(t.TempDir(), t.TempDir(), nil); err == nil {
		t.Error("an image without programs")
	}
}

func octal(mode fs.FileMode) string {
	perm := mode.Perm()
	return string([]byte{'0' + byte(perm>>6&7), '0' + byte(perm>>3&7), '0' + byte(perm&7)})
}

// The image of deploy/Containerfile has the files of the layout, which the same code writes, and the
// same configuration.
func TestContainerfile(t *testing.T) {
	text, err := os.ReadFile("../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, final, ok := strings.Cut(string(text), "\nFROM scratch\n")
	if !ok || !strings.Contains(string(text), "go run ./release ") || !strings.Contains(string(text), " -o /image root\n") {
		t.Fatalf("want a stage that makes the files, and one from scratch:\n%s", text)
	}
	from := programs(t)
	image, err := imageOf(filepath.Join(from, "linux-amd64"), "amd64", "v1", time.Unix(0, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	var got v1.Config
	var copies []string
	words := func(text string) (list []string) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return list
	}
	check := regexp.MustCompile(`^--interval=(\S+) --timeout=(\S+) CMD (\[.*\])$`)
	for line := range strings.Lines(strings.ReplaceAll(final, "\\\n", " ")) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "":
		case "COPY":
			copies = append(copies, rest)
		case "USER":
			got.User = rest
		case "WORKDIR":
			got.WorkingDir = rest
		case "VOLUME":
			got.Volumes = map[string]struct{}{rest: {}}
		case "EXPOSE":
			got.ExposedPorts = map[string]struct{}{rest + "/tcp": {}}
		case "STOPSIGNAL":
			got.StopSignal = rest
		case "ENTRYPOINT":
			got.Entrypoint = words(rest)
		case "CMD":
			got.Cmd = words(rest)
		case "HEALTHCHECK":
			m := check.FindStringSubmatch(rest)
			if m == nil {
				t.Fatalf("HEALTHCHECK %s", rest)
			}
			interval, _ := time.ParseDuration(m[1])
			timeout, _ := time.ParseDuration(m[2])
			got.Healthcheck = &v1.HealthConfig{Test: append([]string{"CMD"}, words(m[3])...), Interval: interval, Timeout: timeout}
		default:
			t.Errorf("%s is not compared with the layout", instruction)
		}
	}
	want := config.Config
	want.Labels = nil // a builder sets them: docker build --label
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\n%+v", got, want)
	}
	if !slices.Equal(copies, []string{"--from=build /image/ /", "--from=build --chown=65532:65532 /image/var/lib/stopgate/ /var/lib/stopgate/"}) {
		t.Errorf("%q", copies)
	}
}
