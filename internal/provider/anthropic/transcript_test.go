package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

func playFile(t testing.TB, f *codec.Transcript, pieces ...string) run {
	t.Helper()
	return play(t, f.Gate(t), request(t), provider.Options{}, pieces...)
}

// Proves W24, W25, W26, W27, W28, W29, W30, W31, W32, W33, W34, W35, W36, W37, W38, F1, F7, F10,
// F11, I24: transcripts, each in one chunk, event by event, byte by byte and with CRLF framing.
func TestTranscripts(t *testing.T) {
	codec.PlayTranscripts(t, func(t testing.TB, f *codec.Transcript, pieces ...string) run {
		t.Helper()
		r := playFile(t, f, pieces...)
		if !strings.Contains(r.Out, "\r\n") { // the client of the tests reads one framing
			legal(t, r)
		}
		return r
	})
}

// Proves W49, L9, F15, I12, W25, W26, W27, W29, W31, W32, W35, W36, W37: the message of every
// transcript with a regular end, sent as one body, gets the same verdicts, calls and texts.
func TestStreamAndBodyAgree(t *testing.T) {
	played := 0
	for _, f := range codec.Transcripts(t) {
		if strings.Contains(f.Get("upstream"), `"input":{"`) {
			continue // two versions of one call: a body has one
		}
		upstream, err := read(f.Get("upstream"), false)
		if err != nil || upstream.end != "message_stop" || len(upstream.stops) != 1 || upstream.open > 0 || f.Name == "event_name_differs_from_type" {
			continue // a message that no body can contain
		}
		played++
		t.Run(f.Name, func(t *testing.T) {
			body, whole := bodyOf(upstream)
			if !whole {
				return // a body cannot contain arguments that are not JSON
			}
			g := f.Gate(t)
			out, _, refused := playBody(t, g, provider.Options{}, body)
			streamed := playFile(t, f, f.Get("upstream"))
			want, err := read(streamed.Out, true)
			if err != nil {
				t.Fatal(err)
			}
			if want.end == "error" || refused != nil {
				if want.end != "error" || refused == nil || out != "" {
					t.Fatalf("streamed it ends with %q, whole with %v", want.end, refused)
				}
				return
			}
			got, err := readBody(out)
			if err != nil {
				t.Fatal(err, out)
			}
			if got.show() != want.show() {
				t.Errorf("body:\n%s\nstream:\n%s", got.show(), want.show())
			}
			for i, j := range g.Calls {
				if k := streamed.Gate.Calls[i]; j.Code != k.Code || j.Tool != k.Tool || j.End != k.End {
					t.Errorf("call %d: %s %s, streamed %s %s", i, j.Tool, j.Code, k.Tool, k.Code)
				}
			}
		})
	}
	if played < 10 {
		t.Errorf("only %d transcripts", played)
	}
}

// bodyOf returns a message as a body.
func bodyOf(m *message) (body string, whole bool) {
	var blocks []string
	for _, c := range m.blocks {
		b := `{"type":` + quote(c.typ)
		if c.id != "" {
			b += `,"id":` + quote(c.id)
		}
		if c.name != "" {
			b += `,"name":` + quote(c.name)
		}
		if c.text != "" || c.typ == "text" {
			member := "text"
			if c.typ == "thinking" {
				member = "thinking"
			}
			b += `,"` + member + `":` + quote(c.text)
		}
		if c.args != "" {
			if !json.Valid([]byte(c.args)) {
				return "", false
			}
			b += `,"input":` + c.args
		}
		if c.other != "{}" {
			b += "," + c.other[1:len(c.other)-1]
		}
		blocks = append(blocks, b+"}")
	}
	return `{"id":"msg_1","type":"message","role":"assistant","content":[` + strings.Join(blocks, ", ") + `],"stop_reason":` + quote(m.stops[0]) + `,"usage":{"output_tokens":3}}`, true
}

// legal checks the output with the tests' own client.
func legal(t testing.TB, r run) {
	t.Helper()
	if len(r.Notes.Unexpected) > 0 && len(r.Gate.Calls) == 0 {
		return // mistakes of the provider are forwarded if there is no call
	}
	m, err := read(r.Out, true)
	if err != nil {
		t.Fatalf("the client cannot read it: %v\n%s", err, r.Out)
	}
	var have, allowed []string
	for _, c := range m.tools() {
		have = append(have, c.id+c.name+canonical(c.args))
	}
	for _, j := range r.Gate.Calls {
		if j.Code == "" && j.End == stopgate.Ended {
			allowed = append(allowed, string(j.ID)+string(j.Tool)+canonical(string(j.Raw)))
		}
	}
	if len(m.stops) > 0 && len(r.Gate.Calls) > 0 {
		if strings.Join(have, " ") != strings.Join(allowed, " ") {
			t.Errorf("the client has the calls %q, want %q", have, allowed)
		}
		if m.open > 0 {
			t.Errorf("%d blocks are open at message_delta:\n%s", m.open, r.Out)
		}
	} else if len(have) > 0 {
		t.Errorf("the calls %q came out of a response without an end", have)
	}
	for _, stop := range m.stops {
		if len(r.Gate.Calls) > 0 && stop == "tool_use" && len(have) == 0 {
			t.Errorf("no call and the stop reason tool_use:\n%s", r.Out)
		}
	}
}
