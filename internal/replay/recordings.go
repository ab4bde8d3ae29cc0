package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/provider/registry"
)

// Recordings are recorded bodies of streamed responses, found in a folder.
type Recordings struct {
	fsys fs.FS
	sets map[string]*set // by dialect name
}

type set struct {
	list []recording
	next atomic.Int64
}

type recording struct {
	name  string // file name without .sse
	path  string
	model string // from the manifest, if there is one
}

// OpenRecordings reads the index of a directory. The bodies are in openai-chat/*.sse,
// openai-responses/*.sse, anthropic-messages/*.sse and gemini/*.sse, in the directory or in its subdirectory
// streams. An optional manifest.jsonl in the same place has one JSON object per line, whose members
// file and model name a body and its model.
//
// A request selects its recording by the header X-Replay-Stream or by a model name, either of which
// may be a file name without .sse. The name of a recorded model selects the recordings of that
// model, the n-th one for a history with n assistant messages. Other names get the recordings one
// after the other, in the order of their file names.
func OpenRecordings(dir string) (*Recordings, error) {
	root := os.DirFS(dir)
	base := "."
	if info, err := fs.Stat(root, "streams"); err == nil && info.IsDir() {
		base = "streams"
	}
	models, err := manifest(root, path.Join(base, "manifest.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	r := &Recordings{fsys: root, sets: map[string]*set{}}
	for _, api := range registry.All() {
		files, err := fs.Glob(root, path.Join(base, api.Script.Folder, "*.sse"))
		if err != nil || len(files) == 0 {
			continue
		}
		sort.Strings(files)
		s := &set{}
		for _, file := range files {
			s.list = append(s.list, recording{name: strings.TrimSuffix(path.Base(file), ".sse"), path: file, model: models[path.Base(file)]})
		}
		r.sets[api.Name()] = s
	}
	if len(r.sets) == 0 {
		return nil, fmt.Errorf("%s: no recordings: want openai-chat/*.sse, openai-responses/*.sse, anthropic-messages/*.sse or gemini/*.sse", dir)
	}
	return r, nil
}

// manifest reads the model of each body.
func manifest(fsys fs.FS, name string) (map[string]string, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, nil // the manifest is optional
	}
	models := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var row struct{ File, Model string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		models[path.Base(row.File)] = row.Model
	}
	return models, lines.Err()
}

// choose finds the recording for a request; the error is fs.ErrNotExist if the dialect has none.
func (r *Recordings) choose(dialect, wanted string, req *request) (recording, error) {
	s := r.sets[dialect]
	if s == nil {
		return recording{}, fmt.Errorf("no recordings of %s: %w", dialect, fs.ErrNotExist)
	}
	var sameModel []recording
	for _, rec := range s.list {
		if rec.name == wanted || wanted == "" && rec.name == req.Model {
			return rec, nil
		}
		if rec.model != "" && rec.model == req.Model {
			sameModel = append(sameModel, rec)
		}
	}
	switch {
	case wanted != "":
		return recording{}, fmt.Errorf("no recording %q of %s: %w", wanted, dialect, fs.ErrNotExist)
	case len(sameModel) > 0:
		return sameModel[req.answered%len(sameModel)], nil
	}
	return s.list[(s.next.Add(1)-1)%int64(len(s.list))], nil
}

// play writes a recording, one event at a time.
func (u *Upstream) play(w http.ResponseWriter, r *http.Request, api *registry.API, rec recording, req *request) {
	if !req.Stream {
		fail(w, api, http.StatusBadRequest, "recordings are streams: set stream to true")
		return
	}
	body, err := fs.ReadFile(u.o.Recordings.fsys, rec.path)
	if err != nil {
		fail(w, api, http.StatusInternalServerError, "the recording cannot be read")
		return
	}
	p := u.player(w, r, api, rec.name)
	p.report.Total = int64(len(body))
	defer p.end()
	w.Header().Set("X-Replay-Stream", rec.name)
	if p.first() != nil {
		return
	}
	p.header("text/event-stream; charset=utf-8")
	for len(body) > 0 {
		n := eventLen(body)
		if p.emit(body[:n], 1, n) != nil {
			return
		}
		body = body[n:]
	}
}

// eventLen returns the length of the first event of an SSE body including its blank line, or of the
// whole body if there is no blank line.
func eventLen(body []byte) int {
	empty := true // the line is empty so far
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '\r', '\n':
			if body[i] == '\r' && i+1 < len(body) && body[i+1] == '\n' {
				i++
			}
			if empty {
				return i + 1
			}
			empty = true
		default:
			empty = false
		}
	}
	return len(body)
}
