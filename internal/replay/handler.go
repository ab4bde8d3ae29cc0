package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/jsonstream"
)

// Options configure an Upstream.
type Options struct {
	// Scenarios are the scripts; the first one answers unknown model names. Nil means the built-in
	// ones.
	Scenarios []*Scenario
	// Recordings are played byte for byte; see OpenRecordings. May be nil.
	Recordings *Recordings
	// TokensPerSecond is the pace of the model; 0 is as fast as the client reads.
	TokensPerSecond float64
	// FirstToken is the time before the first byte of a response.
	FirstToken time.Duration
	// Sleep waits; nil means the function Sleep.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the time in responses; nil means time.Now.
	Now func() time.Time
	// Progress is called with the progress of a streamed response after every event, by the
	// goroutine that writes it. May be nil.
	Progress func(Report)
	// Ended is called once when a response ends, complete or not, by the goroutine that served it.
	Ended func(Report)
}

// Report is the progress of a response.
type Report struct {
	Dialect string // "openai-chat", "openai-responses", "anthropic" or "gemini"
	Source  string // the scenario's model name, or the recording's name
	// Generated and Total are bytes of text and arguments of a scenario, or bytes of the body of a
	// recording. Total - Generated was not generated.
	Generated, Total int64
	// Cancelled reports that the client went away before the end.
	Cancelled bool
}

// Upstream is the provider. It is safe for concurrent use and keeps no state of conversations.
type Upstream struct {
	o Options
}

// maxRequest bounds the request bodies that are read.
const maxRequest = 64 << 20

// New returns a provider.
func New(o Options) (*Upstream, error) {
	if o.Scenarios == nil {
		var err error
		if o.Scenarios, err = Scenarios(); err != nil {
			return nil, err
		}
	}
	if len(o.Scenarios) == 0 && o.Recordings == nil {
		return nil, errors.New("replay: nothing to play")
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ended == nil {
		o.Ended = func(Report) {}
	}
	if o.Progress == nil {
		o.Progress = func(Report) {}
	}
	return &Upstream{o: o}, nil
}

// request is the part of a request that the provider uses.
type request struct {
	provider.Request
	store    bool
	answered int // number of responses of the model in the history
}

// readRequest reads a request, which need not be one that a provider would accept.
func readRequest(api *registry.API, path string, body []byte) (*request, error) {
	root, err := jsonstream.Parse(body, provider.EnvelopeOptions(maxRequest))
	if err != nil {
		return nil, err
	}
	get := func(names ...string) (v jsonstream.Value) {
		v = root
		for _, name := range names {
			v, _ = v.Get(name)
		}
		return v
	}
	req := &request{
		Request: provider.Request{
			Model: get("model").Text(), Stream: get("stream").Kind() == jsonstream.True, Bytes: len(body),
			IncludeUsage: get("stream_options", "include_usage").Kind() == jsonstream.True,
		},
		store: get("store").Kind() != jsonstream.False, answered: api.Script.Answered(root),
	}
	if api.ReadPath != nil {
		api.ReadPath(&req.Request, path)
	}
	return req, nil
}

// served lists the paths that the model serves.
func served() string {
	var paths []string
	for _, api := range registry.All() {
		for _, r := range api.Routes {
			if r.Kind == provider.Turn {
				paths = append(paths, r.Path)
			}
		}
	}
	last := len(paths) - 1
	return strings.Join(paths[:last], ", ") + " and " + paths[last]
}

// fail writes an error body.
func fail(w http.ResponseWriter, api *registry.API, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	kind := "invalid_request_error"
	if status == http.StatusNotFound {
		kind = "not_found_error"
	}
	fmt.Fprintf(w, api.Script.Error, script.Quote(message), kind)
}

// ServeHTTP answers like a provider.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Stopgate-Upstream", "replay")
	api := registry.Turn(r.URL.Path)
	switch {
	case r.URL.Path == "/v1/models" && r.Method == http.MethodGet:
		u.models(w)
		return
	case api == nil:
		http.Error(w, `{"error":{"message":"the replay model serves `+served()+`","type":"not_found_error"}}`, http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		fail(w, api, http.StatusMethodNotAllowed, "use POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		fail(w, api, http.StatusRequestEntityTooLarge, "the request body cannot be read")
		return
	}
	req, err := readRequest(api, r.URL.Path, body)
	if err != nil {
		fail(w, api, http.StatusBadRequest, "the request body is not a JSON object: "+err.Error())
		return
	}
	u.answer(w, r, api, req)
}

// answer selects the response: a scenario by its model name, then a recording, then the first
// scenario.
func (u *Upstream) answer(w http.ResponseWriter, r *http.Request, api *registry.API, req *request) {
	scenario := u.scenario(req.Model)
	wanted := r.Header.Get("X-Replay-Stream")
	if u.o.Recordings != nil && (scenario == nil || wanted != "") {
		rec, err := u.o.Recordings.choose(api.Name(), wanted, req)
		switch {
		case err == nil:
			u.play(w, r, api, rec, req)
			return
		case wanted != "" || !errors.Is(err, fs.ErrNotExist):
			fail(w, api, http.StatusNotFound, err.Error())
			return
		}
	}
	if scenario == nil {
		if len(u.o.Scenarios) == 0 {
			fail(w, api, http.StatusNotFound, fmt.Sprintf("no recording and no scenario for the model %q", req.Model))
			return
		}
		scenario = u.o.Scenarios[0]
	}
	p := u.player(w, r, api, scenario.Model)
	a := &script.Answer{Turn: scenario.turn(req.answered), Model: scenario.Model, Step: req.answered, Usage: req.IncludeUsage,
		Store: req.store, Prompt: req.Bytes / 4, Created: u.o.Now().Unix()}
	p.report.Total = a.Size()
	defer p.end()
	if p.first() != nil {
		return
	}
	if !req.Stream {
		p.writeBody(a.Size(), api.Script.Body(a))
		return
	}
	p.header("text/event-stream; charset=utf-8")
	api.Script.Stream(a, p.emit)
}

func (u *Upstream) scenario(model string) *Scenario {
	for _, s := range u.o.Scenarios {
		if s.Model == model {
			return s
		}
	}
	return nil
}

// models lists the scenarios, for clients that request the list of models.
func (u *Upstream) models(w http.ResponseWriter) {
	var ids []string
	for _, s := range u.o.Scenarios {
		ids = append(ids, fmt.Sprintf(`{"id":%s,"object":"model","type":"model","created":0,"owned_by":"stopgate"}`, script.Quote(s.Model)))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"object":"list","data":[%s],"has_more":false}`, strings.Join(ids, ","))
}
