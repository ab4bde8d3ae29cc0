package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"
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
	Dialect string // "openai-chat", "openai-responses" or "anthropic"
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
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
	Input    json.RawMessage `json:"input"` // of Responses, like Previous and Store
	Store    *bool           `json:"store"`
	Previous string          `json:"previous_response_id"`
	bytes    int             // length of the body
}

// answered counts the responses of the model in the history.
func (r *request) answered() int {
	n := responsesAnswered(r.Previous, r.Input)
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// ServeHTTP answers like a provider.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Stopgate-Upstream", "replay")
	d, known := dialects[r.URL.Path]
	switch {
	case r.URL.Path == "/v1/models" && r.Method == http.MethodGet:
		u.models(w)
		return
	case !known:
		http.Error(w, `{"error":{"message":"the replay model serves /v1/chat/completions, /v1/responses and /v1/messages","type":"not_found_error"}}`, http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		d.fail(w, http.StatusMethodNotAllowed, "use POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		d.fail(w, http.StatusRequestEntityTooLarge, "the request body cannot be read")
		return
	}
	req := request{bytes: len(body)}
	if err := json.Unmarshal(body, &req); err != nil {
		d.fail(w, http.StatusBadRequest, "the request body is not a JSON object: "+err.Error())
		return
	}
	u.answer(w, r, d, &req)
}

// answer selects the response: a scenario by its model name, then a recording, then the first
// scenario.
func (u *Upstream) answer(w http.ResponseWriter, r *http.Request, d dialect, req *request) {
	scenario := u.scenario(req.Model)
	wanted := r.Header.Get("X-Replay-Stream")
	if u.o.Recordings != nil && (scenario == nil || wanted != "") {
		rec, err := u.o.Recordings.choose(d.name, wanted, req)
		switch {
		case err == nil:
			u.play(w, r, d, rec, req)
			return
		case wanted != "" || !errors.Is(err, fs.ErrNotExist):
			d.fail(w, http.StatusNotFound, err.Error())
			return
		}
	}
	if scenario == nil {
		if len(u.o.Scenarios) == 0 {
			d.fail(w, http.StatusNotFound, fmt.Sprintf("no recording and no scenario for the model %q", req.Model))
			return
		}
		scenario = u.o.Scenarios[0]
	}
	p := u.player(w, r, d, scenario.Model)
	step := req.answered()
	a := &scripted{Turn: scenario.turn(step), model: scenario.Model, step: step, usage: req.StreamOptions.IncludeUsage,
		store: req.Store == nil || *req.Store, prompt: req.bytes / 4, created: u.o.Now().Unix()}
	p.report.Total = a.size()
	defer p.end()
	if p.first() != nil {
		return
	}
	if !req.Stream {
		p.writeBody(a.size(), d.body(a))
		return
	}
	p.header("text/event-stream; charset=utf-8")
	d.stream(a, p.emit)
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
		ids = append(ids, fmt.Sprintf(`{"id":%s,"object":"model","type":"model","created":0,"owned_by":"stopgate"}`, quote(s.Model)))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"object":"list","data":[%s],"has_more":false}`, strings.Join(ids, ","))
}
