package pin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/pin"
)

func check(t *testing.T, s *pin.Store, tool, hash string, want bool) {
	t.Helper()
	same, err := s.Check("srv", stopgate.ToolName(tool), hash, []byte(`{"h":"`+hash+`"}`))
	if err != nil || same != want {
		t.Errorf("%s %s: %t, %v, want %t", tool, hash, same, err, want)
	}
}

// Proves G4: the first definition is accepted and every other one waits, in memory and across
// processes that share a file.
func TestPins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "pins.json")
	for name, stores := range map[string][2]*pin.Store{
		"file": {pin.Open(path), pin.Open(path)}, "memory": func() [2]*pin.Store { m := pin.InMemory(); return [2]*pin.Store{m, m} }(),
	} {
		t.Run(name, func(t *testing.T) {
			a, b := stores[0], stores[1]
			check(t, a, "t", "1", true)
			check(t, b, "t", "1", true)
			check(t, b, "t", "2", false)
			check(t, a, "t", "2", false)
			check(t, a, "u", "9", true)
			pins, err := a.List()
			if err != nil || len(pins) != 2 || pins[0].Tool != "t" || pins[0].Changed == nil || pins[0].Changed.Hash != "2" || pins[0].By != "" {
				t.Fatalf("%+v, %v", pins, err)
			}
			if err := a.Accept("srv", "t", "3", "ada"); !errors.Is(err, pin.ErrUnchanged) {
				t.Errorf("what was not shown: %v", err)
			}
			if err := a.Accept("srv", "x", "3", "ada"); !errors.Is(err, pin.ErrUnknown) {
				t.Errorf("what is not there: %v", err)
			}
			if err := b.Accept("srv", "t", "2", "ada"); err != nil {
				t.Fatal(err)
			}
			check(t, a, "t", "2", true)
			check(t, a, "t", "1", false)
			// After a return to the accepted definition nothing waits.
			check(t, a, "t", "2", true)
			if pins, _ := b.List(); pins[0].Changed != nil || pins[0].By != "ada" {
				t.Errorf("%+v", pins[0])
			}
			if n, err := a.Forget("srv", "t"); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			check(t, b, "t", "7", true)
			if n, err := a.Forget("srv", ""); n != 2 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
	if at, err := os.Stat(path); err != nil || at.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", at, err)
	}
}

// Proves I14: an unreadable file accepts nothing, and is not overwritten.
func TestUnreadable(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":2,"pins":[]}`, `{"version":1,"pins":[],"more":1}`, `{"version":1,"pins":7}`} {
		path := filepath.Join(t.TempDir(), "pins.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := pin.Open(path)
		if same, err := s.Check("s", "t", "1", []byte("{}")); same || err == nil {
			t.Errorf("%q accepts", text)
		}
		if _, err := s.List(); err == nil {
			t.Errorf("%q is listed", text)
		}
		if err := s.Accept("s", "t", "1", "ada"); err == nil {
			t.Errorf("%q takes an answer", text)
		}
		if _, err := s.Forget("s", "t"); err == nil {
			t.Errorf("%q forgets", text)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if _, err := pin.Open(filepath.Join(t.TempDir(), "x\x00y")).Check("s", "t", "1", nil); err == nil {
		t.Error("a path that cannot be")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if same, err := pin.Open(filepath.Join(file, "pins.json")).Check("s", "t", "1", []byte("{}")); same || err == nil {
		t.Error("a directory that cannot be made")
	}
}

// Proves G4: processes that start at once do not lose each other's pins.
func TestManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := pin.Open(path)
			for j := range 5 {
				if same, err := s.Check("s", stopgate.ToolName("t"+strconv.Itoa(i)+"_"+strconv.Itoa(j)), "1", []byte("{}")); !same || err != nil {
					t.Errorf("%t, %v", same, err)
				}
			}
		})
	}
	all.Wait()
	pins, err := pin.Open(path).List()
	if err != nil || len(pins) != 40 {
		t.Errorf("%d pins, %v", len(pins), err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".mcp-pins-*"))
	if len(left) > 0 || !strings.HasSuffix(path, "pins.json") {
		t.Errorf("left behind: %v", left)
	}
}
