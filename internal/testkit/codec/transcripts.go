package codec

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the transcripts' events and client parts anew")

// Transcript is a file of testdata: the stream of the provider, the denied tools, the events of the
// sink and what the client receives.
type Transcript struct {
	Name    string
	path    string
	archive *txtar.Archive
}

// Get returns a part of the file.
func (f *Transcript) Get(name string) string {
	for _, file := range f.archive.Files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

func (f *Transcript) set(name, data string) {
	for i := range f.archive.Files {
		if f.archive.Files[i].Name == name {
			f.archive.Files[i].Data = []byte(data)
			return
		}
	}
	f.archive.Files = append(f.archive.Files, txtar.File{Name: name, Data: []byte(data)})
}

// Gate returns a gate that denies the tools of the transcript.
func (f *Transcript) Gate(t testing.TB) *Gate { return NewGate(t, strings.Fields(f.Get("deny"))...) }

// Transcripts returns the files of testdata.
func Transcripts(t testing.TB) (list []*Transcript) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &Transcript{strings.TrimSuffix(filepath.Base(path), ".txtar"), path, a})
	}
	return list
}

// OpenTranscript returns one file of testdata.
func OpenTranscript(t testing.TB, name string) *Transcript {
	t.Helper()
	for _, f := range Transcripts(t) {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no transcript %s", name)
	return nil
}

// PlayTranscripts plays every transcript in one piece, event by event, byte by byte and with CRLF:
// the events and the client's stream are those of the file.
func PlayTranscripts(t *testing.T, play func(t testing.TB, f *Transcript, pieces ...string) Run) {
	for _, f := range Transcripts(t) {
		t.Run(f.Name, func(t *testing.T) {
			upstream := f.Get("upstream")
			r := play(t, f, upstream)
			if *update {
				f.set("events", r.Gate.Log.String())
				f.set("client", r.Out)
				if err := os.WriteFile(f.path, txtar.Format(f.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.Gate.Log.String(); got != f.Get("events") {
				t.Errorf("events:\n%s\nwant:\n%s", got, f.Get("events"))
			}
			if r.Out != f.Get("client") {
				t.Errorf("client:\n%s\nwant:\n%s", r.Out, f.Get("client"))
			}
			for name, pieces := range map[string][]string{
				"event by event": strings.SplitAfter(upstream, "\n\n"),
				"byte by byte":   strings.Split(upstream, ""),
			} {
				if again := play(t, f, pieces...); again.Out != r.Out || again.Gate.Log.String() != r.Gate.Log.String() {
					t.Errorf("%s:\n%s\nwant:\n%s", name, again.Out, r.Out)
				}
			}
			crlf := play(t, f, strings.ReplaceAll(upstream, "\n", "\r\n"))
			if out := strings.ReplaceAll(crlf.Out, "\r\n", "\n"); out != r.Out || crlf.Gate.Log.String() != r.Gate.Log.String() {
				t.Errorf("CRLF:\n%s\nwant:\n%s", out, r.Out)
			}
		})
	}
}
