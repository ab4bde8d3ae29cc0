package servers_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// be runs a server. It writes notes for the test into dir.
func be(behaviour, dir string) {
	leave := func(file, text string) {
		f, err := os.OpenFile(filepath.Join(dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			f.WriteString(text + "\n")
			f.Close()
		}
	}
	leave(behaviour, fmt.Sprint(os.Getpid()))
	switch behaviour {
	case "early":
		fmt.Fprintln(os.Stderr, "no key is set")
		os.Exit(1)
	case "mute":
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("/bin/sleep", "1000")
		_ = child.Start()
		leave("child", fmt.Sprint(child.Process.Pid))
	}
	b := &being{behaviour: behaviour, leave: leave, in: bufio.NewReader(os.Stdin)}
	for {
		m := b.next()
		if m == nil {
			break
		}
		b.take(m)
	}
	if behaviour == "stubborn" {
		select {}
	}
}

type being struct {
	behaviour string
	leave     func(file, text string)
	in        *bufio.Reader
	mu        sync.Mutex
	grown     bool
}

func (b *being) next() *jsonrpc.Message {
	for {
		line, err := b.in.ReadString('\n')
		if err != nil {
			return nil
		}
		if m, err := jsonrpc.Read([]byte(line)); err == nil {
			return m
		}
	}
}

func (b *being) say(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Println(text)
}

func (b *being) result(m *jsonrpc.Message, result string) {
	b.say(string(jsonrpc.AppendResult(nil, m.ID, []byte(strings.ReplaceAll(result, "\n", "")))))
}

func (b *being) fail(m *jsonrpc.Message, code int, message string) {
	b.say(string(jsonrpc.AppendError(nil, m.ID, code, message, nil)))
}

func (b *being) take(m *jsonrpc.Message) {
	switch m.Method {
	case "initialize":
		switch b.behaviour {
		case "modern":
			b.fail(m, -32601, "no such method")
		case "stranger":
			b.result(m, `{"protocolVersion":"1999-01-01"}`)
		default:
			b.result(m, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}`)
		}
	case "server/discover":
		b.result(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case "tools/list":
		b.list(m)
	case "tools/call":
		b.call(m)
	case "notifications/cancelled":
		b.leave("cancelled", string(m.Text))
	case "ping":
		b.result(m, "{}")
	}
}

func (b *being) list(m *jsonrpc.Message) {
	def := func(name, description string) string {
		return `{"name":"` + name + `","description":"` + description + `","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"what` + description + `"}}}}`
	}
	switch b.behaviour {
	case "toolless":
		b.fail(m, -32601, "no such method")
		return
	case "liar":
		b.result(m, `{"tools":"many"}`)
		return
	case "hides":
		b.result(m, `{"tools":[`+def("echo", "Says\u200b it")+`]}`)
		return
	case "modern":
		if !strings.Contains(string(m.Params.Raw()), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`) {
			b.fail(m, -32602, "no version")
			return
		}
	}
	cursor, _ := m.Params.Get("cursor")
	if !cursor.IsValid() {
		echo, more := def("echo", "Says it again"), ""
		if b.grown {
			echo, more = def("echo", "Says it again, and to everybody"), ","+def("fresh", "New")
		}
		b.result(m, `{"tools":[`+echo+`,`+def("image", "")+`,{"name":"two","Name":"three","inputSchema":{}},`+def("structured", "")+more+`],"nextCursor":"2"}`)
		return
	}
	b.result(m, `{"tools":[`+def("broken", "")+`,`+def("grow", "")+`,`+def("where", "")+`]}`)
}

func (b *being) call(m *jsonrpc.Message) {
	name, _ := m.Params.Get("name")
	args, _ := m.Params.Get("arguments")
	b.leave("calls", string(args.Raw()))
	text := func(s string) string { return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, s) }
	switch name.Text() {
	case "image":
		b.result(m, `{"content":[{"type":"text","text":"look:"},{"type":"image","mimeType":"image/png","data":"AAAAAAAAAA=="},{"type":"audio","data":"AAAAAAAA"},
			{"type":"resource_link","name":"notes","uri":"file:///notes"},{"type":"resource","resource":{"uri":"file:///a","text":"inside"}},
			{"type":"resource","resource":{"uri":"file:///b","mimeType":"application/zip","blob":"AAAA"}},{"type":"hologram"}]}`)
		return
	case "structured":
		b.result(m, `{"content":[],"structuredContent":{"x":1.50}}`)
		return
	case "broken":
		b.result(m, `{"content":[{"type":"text","text":"it broke"}],"isError":true}`)
		return
	case "grow":
		b.grown = true
		b.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		b.result(m, text("grown"))
		b.leave("grown", "")
		return
	case "where":
		b.asks(m, text)
		return
	}
	kind, _ := args.Get("what")
	if !kind.IsValid() {
		b.result(m, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, args.Raw()))
		return
	}
	switch kind.Text() {
	case "nothing":
		b.result(m, `{"content":[]}`)
	case "no result":
		b.result(m, `{"ok":true}`)
	case "error":
		b.fail(m, -32602, "no such thing")
	case "input":
		b.result(m, `{"resultType":"input_required","inputRequests":{}}`)
	case "garbage":
		b.say("Here you are:")
		b.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[],"content":[]}}`)
	case "big":
		b.result(m, text("first\n"+strings.Repeat("0123456789\n", 1_000_000)+"last"))
	case "huge":
		b.result(m, text(strings.Repeat("x", jsonrpc.MaxBytes)))
	case "die":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "hang":
	}
}

// asks sends every kind of request that a server can send to a client.
func (b *being) asks(m *jsonrpc.Message, text func(string) string) {
	var got []string
	for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create"} {
		b.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%q}`, i, method))
		r := b.next()
		if r == nil {
			return
		}
		word := method + ": result"
		if r.Kind == jsonrpc.ErrorResponse {
			code, _ := r.Error.Get("code")
			word = method + ": error " + string(code.Raw())
		}
		got = append(got, word)
	}
	b.result(m, text(strings.Join(got, "; ")))
}
