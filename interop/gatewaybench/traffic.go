package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A traffic is one kind of request and its answer.
type traffic struct {
	Name    string
	Dialect string // chat, responses or messages
	Stream  bool
	Text    bool // text instead of a call
	Size    int  // bytes of arguments, or of text
	Piece   int  // bytes of a piece of a stream
	Usage   bool // usage in every chunk, as servers of open models send it
	Count   int  // requests in a round
}

// plan is what is measured.
func plan() (all []traffic) {
	for _, dialect := range []string{"chat", "responses", "messages"} {
		for _, piece := range []int{4, 20} {
			all = append(all, traffic{Dialect: dialect, Stream: true, Size: 64 << 10, Piece: piece, Count: 24 * piece / 4})
		}
		all = append(all, traffic{Dialect: dialect, Stream: true, Text: true, Size: 64 << 10, Piece: 4, Count: 24})
		all = append(all, traffic{Dialect: dialect, Stream: true, Size: 200, Piece: 4, Count: 400})
	}
	all = append(all, traffic{Dialect: "chat", Stream: true, Size: 64 << 10, Piece: 4, Usage: true, Count: 24})
	for _, dialect := range []string{"chat", "responses", "messages"} {
		for _, size := range []int{200, 64 << 10, 1 << 20} {
			all = append(all, traffic{Dialect: dialect, Size: size, Count: max(8, min(400, 400*(8<<10)/size))})
		}
	}
	for i := range all {
		all[i].Name = all[i].name()
	}
	return all
}

func (t traffic) name() string {
	what, size := "call", fmt.Sprintf("%d KiB", t.Size>>10)
	if t.Text {
		what = "text"
	}
	if t.Size < 1<<10 {
		size = fmt.Sprintf("%d bytes", t.Size)
	}
	how := "whole"
	if t.Stream {
		how = fmt.Sprintf("pieces of %d", t.Piece)
	}
	if t.Usage {
		how += ", usage in each"
	}
	return fmt.Sprintf("%s, %s of %s, %s", t.Dialect, what, size, how)
}

// goal is the largest ratio to the proxy that is wanted, of the time and of the own processor time; 0
// is none.
func (t traffic) goal() (time, cpu float64) {
	switch small := t.Size < 1<<10; {
	case !t.Stream && small:
		return 1.5, 3
	case !t.Stream && t.Size < 1<<20:
		return 1.3, 2.5
	case !t.Stream:
		return 1.3, 3
	case small:
		return 0, 0
	case t.Usage:
		return 1.1, 1.5
	case t.Dialect == "chat":
		return 1, 1.1
	case t.Text:
		return 0, 0
	case t.Dialect == "responses":
		return 1.1, 1.4
	}
	return 1.05, 1.2
}

const parameters = `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`

// path and request are those of a client of the dialect.
func (t traffic) path() string {
	return map[string]string{"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}[t.Dialect]
}

// request is one of a conversation of its own, which a number names.
func (t traffic) request(number int64) string {
	const tool = "fs_create_file"
	body := map[string]any{"model": t.Name, "stream": t.Stream}
	prompt := fmt.Sprintf("write file %d", number)
	switch t.Dialect {
	case "responses":
		body["input"] = prompt
		body["tools"] = []any{map[string]any{"type": "function", "name": tool, "parameters": json.RawMessage(parameters)}}
	case "messages":
		body["max_tokens"] = 100_000
		body["messages"] = []any{map[string]any{"role": "user", "content": prompt}}
		body["tools"] = []any{map[string]any{"name": tool, "input_schema": json.RawMessage(parameters)}}
	default:
		body["messages"] = []any{map[string]any{"role": "user", "content": prompt}}
		body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": tool, "parameters": json.RawMessage(parameters)}}}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// end is how a complete answer ends.
func (t traffic) end() string {
	switch {
	case !t.Stream:
		return "}"
	case t.Dialect == "chat":
		return "data: [DONE]\n\n"
	}
	return "}\n\n"
}

// source returns n bytes of the source code of the checkout, which is what agents write.
func source(n int) (string, error) {
	var all bytes.Buffer
	err := filepath.WalkDir(filepath.Join("..", "gateway"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || all.Len() >= n {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err == nil && all.Len() == 0 {
		err = fmt.Errorf("no source code below %s: run this in interop/", filepath.Join("..", "gateway"))
	}
	for all.Len() < n && err == nil {
		all.Write(all.Bytes())
	}
	return strings.ToValidUTF8(all.String()[:min(n, all.Len())], ""), err
}

// pieces cuts text at code points, into pieces of about n bytes.
func pieces(text string, n int) (all []string) {
	for len(text) > 0 {
		end := min(n, len(text))
		for end < len(text) && text[end]&0xC0 == 0x80 {
			end++
		}
		all = append(all, text[:end])
		text = text[end:]
	}
	return all
}

// quote is the JSON text of a string, as providers write it.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// padding is text of varying length that providers add to their events.
func padding(rng *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	p := make([]byte, 1+rng.IntN(16))
	for i := range p {
		p[i] = letters[rng.IntN(len(letters))]
	}
	return string(p)
}

// provider answers requests with prepared answers, of which the request's model names one. Each event
// is one write.
type provider map[string][][]byte

func newProvider() (provider, error) {
	p := provider{}
	for _, t := range plan() {
		events, err := t.answer()
		if err != nil {
			return nil, err
		}
		p[t.Name] = events
	}
	return p, nil
}

func (p provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model  string
		Stream bool
	}
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	events := p[request.Model]
	if request.Model == idleModel {
		events = [][]byte{[]byte("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1769809582,\"model\":\"idle\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"x\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n")}
	}
	if err != nil || events == nil {
		http.Error(w, "no such traffic", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(events[0])))
	}
	flush := http.NewResponseController(w)
	for _, event := range events {
		if _, err := w.Write(event); err != nil {
			return
		}
		if flush.Flush() != nil {
			return
		}
	}
	if request.Model == idleModel {
		<-r.Context().Done()
	}
}
