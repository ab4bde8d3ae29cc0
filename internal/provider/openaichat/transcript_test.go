package openaichat_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

var update = flag.Bool("update", false, "write the transcripts' events and client parts anew")

// transcript is one file of testdata: the upstream's stream, the denied calls, the events for the
// sink and the stream for the client.
type transcript struct {
	path    string
	archive *txtar.Archive
}

func (f *transcript) get(name string) string {
	for _, file := range f.archive.Files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

func (f *transcript) set(name, data string) {
	for i := range f.archive.Files {
		if f.archive.Files[i].Name == name {
			f.archive.Files[i].Data = []byte(data)
			return
		}
	}
	f.archive.Files = append(f.archive.Files, txtar.File{Name: name, Data: []byte(data)})
}

func transcripts(t *testing.T, pattern string) []*transcript {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	var out []*transcript
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &transcript{path, a})
	}
	return out
}

func (f *transcript) play(t *testing.T, pieces ...string) run {
	t.Helper()
	g := newGate(t, strings.Fields(f.get("deny"))...)
	return play(t, g, request(t, strings.TrimSpace(f.get("request"))), provider.Options{}, pieces...)
}

// Proves W1, W2, W3, W4, W5, W7, W8, W9, W14, W15, W16, W17, W18, W19, W20, W21, W22, W23, F6, F10,
// F11, P7, P16, P17, P20, P21, I24: transcripts, each in one chunk, event by event, byte by byte
// and with CRLF framing.
func TestTranscripts(t *testing.T) {
	for _, f := range transcripts(t, "*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(f.path), ".txtar"), func(t *testing.T) {
			upstream := f.get("upstream")
			r := f.play(t, upstream)
			if *update {
				f.set("events", r.Gate.Log.String())
				f.set("client", r.Out)
				if err := os.WriteFile(f.path, txtar.Format(f.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.Gate.Log.String(); got != f.get("events") {
				t.Errorf("events:\n%s\nwant:\n%s", got, f.get("events"))
			}
			if r.Out != f.get("client") {
				t.Errorf("client:\n%s\nwant:\n%s", r.Out, f.get("client"))
			}
			legal(t, r)
			for name, pieces := range map[string][]string{
				"event by event": strings.SplitAfter(upstream, "\n\n"),
				"byte by byte":   strings.Split(upstream, ""),
			} {
				if again := f.play(t, pieces...); again.Out != r.Out || again.Gate.Log.String() != r.Gate.Log.String() {
					t.Errorf("%s:\n%s\nwant:\n%s", name, again.Out, r.Out)
				}
			}
			crlf := f.play(t, strings.ReplaceAll(upstream, "\n", "\r\n"))
			if out := strings.ReplaceAll(crlf.Out, "\r\n", "\n"); out != r.Out || crlf.Gate.Log.String() != r.Gate.Log.String() {
				t.Errorf("CRLF:\n%s\nwant:\n%s", out, r.Out)
			}
		})
	}
}

// legal checks the output with the tests' own client.
func legal(t testing.TB, r run) {
	t.Helper()
	got, err := read(r.Out, true)
	if err != nil {
		// An end marker of the upstream after its error is kept.
		if !strings.Contains(r.Out, `"error"`) || !strings.HasSuffix(r.Out, "data: [DONE]\n\n") {
			t.Fatalf("the client cannot read it: %v\n%s", err, r.Out)
		}
		if got, err = read(strings.TrimSuffix(r.Out, "data: [DONE]\n\n"), true); err != nil {
			t.Fatalf("the client cannot read it: %v\n%s", err, r.Out)
		}
	}
	had := map[int]bool{}
	allowed := map[int][]string{}
	for _, j := range r.Gate.Calls {
		had[j.Choice] = true
		if j.Code == "" && j.End == stopgate.Ended {
			allowed[j.Choice] = append(allowed[j.Choice], string(j.Tool)+canonical(string(j.Raw)))
		}
	}
	if err := truthful(got, had); err != nil {
		t.Error(err)
	}
	for i, a := range got {
		var tools []string
		for _, c := range a.tools {
			args := c.args
			if c.kind == "custom" {
				args = canonical(`{"input":` + quote(c.args) + `}`)
			}
			tools = append(tools, c.name+canonical(args))
		}
		if want := allowed[i]; len(a.finish) > 0 && strings.Join(tools, " ") != strings.Join(want, " ") {
			t.Errorf("choice %d has the calls %q, want %q", i, tools, want)
		}
	}
}
