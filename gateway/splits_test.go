package gateway_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// These tests split streams at unusual positions. They run without sockets, so that a million
// splits take a minute.
//
// The number of splits: few with -short, some thousands by default, all with STOPGATE_LONG=1.
func tier(short, normal, long int) int {
	switch {
	case os.Getenv("STOPGATE_LONG") == "1":
		return long
	case testing.Short():
		return short
	}
	return normal
}

// splitter is a gateway whose provider responds in given chunks.
type splitter struct {
	gw      *gateway.Gateway
	path    string
	request string
	pieces  []string
}

func newSplitter(t *testing.T, policy, path string) *splitter {
	t.Helper()
	s := &splitter{path: path}
	o := gateway.Options{Gate: newGate(t, policy, nil), Settings: gateway.DefaultSettings()}
	o.Settings.AfterDeny = gateway.DrainUpstream // otherwise the part read of a denied call depends on time
	o.Upstreams = []gateway.Upstream{{ID: "test", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(&inPieces{pieces: s.pieces})}, nil
	})}}
	gw, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gw.Close)
	s.gw = gw
	return s
}

// inPieces reads one chunk at a time.
type inPieces struct {
	pieces []string
	rest   string
}

func (p *inPieces) Read(b []byte) (int, error) {
	for p.rest == "" {
		if len(p.pieces) == 0 {
			return 0, io.EOF
		}
		p.rest, p.pieces = p.pieces[0], p.pieces[1:]
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// madeUp matches an id that the gateway gives a call without one.
var madeUp = regexp.MustCompile(`call_[A-Z2-7]{24,26}`)

// serve returns the response for the client.
func (s *splitter) serve(pieces ...string) string {
	s.pieces = pieces
	w := &everything{header: http.Header{}}
	if w.serve(s.gw, s.path, s.request) {
		return w.text.String() + "(broken off)"
	}
	return w.text.String()
}

// same compares the response for chunks with that for the whole.
func (s *splitter) same(t *testing.T, name, want string, pieces ...string) {
	t.Helper()
	got := s.serve(pieces...)
	if got == want {
		return
	}
	if got, want := madeUp.ReplaceAllString(got, "call_x"), madeUp.ReplaceAllString(want, "call_x"); got != want {
		lengths := make([]int, len(pieces))
		for i, p := range pieces {
			lengths[i] = len(p)
		}
		t.Fatalf("%s in pieces of %v:\n%s\nwant:\n%s", name, lengths, got, want)
	}
}

// dialectStreams are recorded streams of a dialect with requests that declare their tools, and a
// short synthetic stream.
type dialectStreams struct {
	name, path, folder string
	read               func(*testing.T, string) received
	declare            func(names []string) string
	short              string
}

func allStreams() []dialectStreams {
	declare := func(request, tool string) func(names []string) string {
		return func(names []string) string {
			var tools []string
			for _, name := range names {
				tools = append(tools, fmt.Sprintf(tool, name))
			}
			return fmt.Sprintf(request, strings.Join(tools, ","))
		}
	}
	chat := func(delta, finish string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	}
	event := func(typ, members string) string {
		return "event: " + typ + "\r\ndata: {\"type\":\"" + typ + "\"" + members + "}\r\n\r\n"
	}
	item := func(args string) string {
		return `{"type":"function_call","id":"f","call_id":"c","name":"a","arguments":` + args + `}`
	}
	return []dialectStreams{
		{"chat", chatPath, "openai-chat", readChat,
			declare(`{"model":"m","stream":true,"messages":[],"tools":[%s]}`, `{"type":"function","function":{"name":%q,"parameters":{"type":"object"}}}`),
			"\xEF\xBB\xBF: x\r" + chat(`{"content":"é😀"}`, "null") + chat(`{"tool_calls":[{"index":0,"id":"i","function":{"name":"a","arguments":"{\"p\":"}}]}`, "null") +
				chat(`{"tool_calls":[{"index":0,"function":{"arguments":"\"\\n\\u00e9\"}"}}]}`, "null") + chat(`{}`, `"tool_calls"`) + chatDone},
		{"responses", responsesPath, "openai-responses", readResponses,
			declare(`{"model":"m","stream":true,"input":"x","tools":[%s]}`, `{"type":"function","name":%q,"parameters":{"type":"object"}}`),
			event("response.created", `,"response":{"id":"r","output":[]}`) + event("response.output_item.added", `,"output_index":0,"item":`+item(`""`)) +
				event("response.function_call_arguments.delta", `,"output_index":0,"delta":"{\"é\":"`) + event("response.function_call_arguments.delta", `,"output_index":0,"delta":"1}"`) +
				event("response.output_item.done", `,"output_index":0,"item":`+item(`"{\"é\":1}"`)) + event("response.completed", `,"response":{"id":"r","output":[`+item(`"{\"\u00e9\":1}"`)+`]}`)},
		{"anthropic", anthropicPath, "anthropic-messages", readMessages,
			declare(`{"model":"m","max_tokens":99,"stream":true,"messages":[],"tools":[%s]}`, `{"name":%q,"input_schema":{"type":"object"}}`),
			event("message_start", `,"message":{"id":"m","content":[],"usage":{}}`) + ": ping\n" + event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"t","name":"a","input":{}}`) +
				event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"é\":"}`) + event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}`) +
				event("content_block_stop", `,"index":0`) + event("message_delta", `,"delta":{"stop_reason":"tool_use"},"usage":{}`) + event("message_stop", "")},
	}
}

// recordings returns n recorded streams of a dialect up to some size, evenly selected: the cost of
// splitting a stream everywhere grows with the square of its size.
func (d dialectStreams) recordings(t *testing.T, n, size int) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", d.folder), "*.sse"))
	files = slices.DeleteFunc(files, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || info.Size() > int64(size)
	})
	if n = min(n, len(files)); err != nil || n == 0 {
		t.Fatal("no recordings", err)
	}
	var texts []string
	for i := range n {
		text, err := os.ReadFile(files[i*len(files)/n])
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

func (d dialectStreams) names(t *testing.T, stream string) (names []string) {
	for _, c := range d.read(t, stream).calls {
		if c.name != "" && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// Proves I2, I24, L2: wherever a recorded stream is split once, the client receives the same bytes,
// whether its calls are allowed or denied.
func TestEveryCutOfRecordings(t *testing.T) {
	for _, d := range allStreams() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			streams := d.recordings(t, tier(4, 20, 67), 12<<10)
			gates := []*splitter{newSplitter(t, allowAll, d.path), newSplitter(t, "version = 1\n[tools.\"*\".policy]\nrun = \"deny\"\n", d.path)}
			tried := 0
			for i, stream := range streams {
				s := gates[i%2]
				s.request = d.declare(d.names(t, stream))
				want := s.serve(stream)
				for cut := i % 7; cut < len(stream); cut += 1 + len(stream)/tier(25, 150, len(stream)+1) {
					s.same(t, fmt.Sprint("stream ", i), want, stream[:cut], stream[cut:])
					tried++
				}
			}
			t.Logf("%d streams, %d cuts", len(streams), tried)
		})
	}
}

// Proves I2, I24: wherever a short stream is split twice, including byte order marks, CRLF,
// characters and escapes, the client receives the same bytes.
func TestEveryTwoCuts(t *testing.T) {
	for _, d := range allStreams() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSplitter(t, allowAll, d.path)
			s.request = d.declare([]string{"a"})
			want := s.serve(d.short)
			if !strings.Contains(want, `"a"`) || strings.Contains(want, "(broken off)") {
				t.Fatalf("the call is gone:\n%s", want)
			}
			n, tried := len(d.short), 0
			step := tier(31, 13, 1)
			for first := 0; first < n; first += step {
				for second := first + 1 + first%step; second < n; second += step {
					s.same(t, d.name, want, d.short[:first], d.short[first:second], d.short[second:])
					tried++
				}
			}
			t.Logf("%d bytes, %d pairs of cuts", n, tried)
		})
	}
}

// Proves I2, I24: recorded streams in a million random mixtures of chunks, from single bytes to
// large reads.
func TestRandomCuts(t *testing.T) {
	for _, d := range allStreams() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSplitter(t, allowAll, d.path)
			streams := append(d.recordings(t, 120, 6<<10), d.short)
			total := tier(100, 3000, 1_000_000) / 3
			for i, stream := range streams {
				s.request = d.declare(append(d.names(t, stream), "a"))
				want := s.serve(stream)
				rng := rand.New(rand.NewPCG(uint64(i), 11))
				for n := i * total / len(streams); n < (i+1)*total/len(streams); n++ {
					s.same(t, fmt.Sprint("stream ", i), want, randomPieces(rng, stream)...)
				}
			}
			t.Logf("%d streams, %d ways to cut", len(streams), total)
		})
	}
}

func randomPieces(rng *rand.Rand, s string) (out []string) {
	most := 1 << (4 + rng.IntN(9))
	for len(s) > 0 {
		n := 1 + rng.IntN(most)
		if rng.IntN(8) == 0 {
			n = 1 + rng.IntN(3)
		}
		n = min(n, len(s))
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
