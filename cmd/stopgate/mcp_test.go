package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// fakeMCPServer is an MCP server with one tool; it says its arguments and its
// environment. With a list of tools it answers a call with the text of the argument "says",
// where there is one, as soon as the file THE_ANSWERS exists; until then there is a file
// THE_ANSWERS.awaited.
func fakeMCPServer() {
	description := "Writes a file" + os.Getenv("THE_CHANGE")
	fmt.Fprintf(os.Stderr, "started with\x1b[31m %q\n", os.Args[1:])
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		m, err := jsonrpc.Read([]byte(line))
		if err != nil || m.Kind != jsonrpc.Request {
			continue
		}
		result := `{"content":[{"type":"text","text":"token ` + os.Getenv("THE_TOKEN") + ` store ` + os.Getenv("STOPGATE_SESSION") + `"}]}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`
		case "tools/list":
			if len(os.Args) == 2 && strings.HasSuffix(os.Args[1], ".tools.json") {
				text, _ := os.ReadFile(os.Args[1]) // without it there are none
				result = `{"tools":` + string(text) + `}`
				break
			}
			result = `{"tools":[{"name":"write_file","description":"` + description + `","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`
		}
		var call struct {
			Params struct{ Arguments struct{ Says string } }
		}
		if m.Method == "tools/call" && json.Unmarshal([]byte(line), &call) == nil && call.Params.Arguments.Says != "" {
			for gate := os.Getenv("THE_ANSWERS"); gate != ""; time.Sleep(time.Millisecond) {
				_ = os.WriteFile(gate+".awaited", nil, 0o600) // without it the test waits for ever
				if _, err := os.Stat(gate); err == nil {
					break
				}
			}
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, call.Params.Arguments.Says)
		}
		fmt.Println(string(jsonrpc.AppendResult(nil, m.ID, []byte(result))))
	}
}

// heard is what a process says, also while it still speaks.
type heard struct {
	mu sync.Mutex
	b  strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// mcpClient is a client of a running stopgate mcp.
type mcpClient struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	unread io.Closer // what out reads
	err    *heard
}

func startMCP(t *testing.T, dir string, args ...string) *mcpClient {
	t.Helper()
	return startMCPIn(t, dir, "mine", args...)
}

// startMCPIn starts stopgate mcp for a session.
func startMCPIn(t *testing.T, dir, session string, args ...string) *mcpClient {
	t.Helper()
	c := &mcpClient{t: t, cmd: exec.Command("stopgate", append([]string{"mcp"}, args...)...), err: new(heard)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, append(atHome(dir), "THE_TOKEN=t0", "STOPGATE_SESSION="+session), c.err
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out, c.unread = bufio.NewReader(out), out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.cmd.Process.Kill(); c.cmd.Wait() })
	return c
}

func (c *mcpClient) ask(text string) string {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatalf("%v\n%s", err, c.err)
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.cmd.Wait()
		c.t.Fatalf("%v\n%s", err, c.err)
	}
	return line
}

const mcpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func (c *mcpClient) hello() {
	c.t.Helper()
	if got := c.ask(mcpHello); !strings.Contains(got, `"fake"`) && !strings.Contains(got, `"stopgate"`) {
		c.t.Fatalf("%s\n%s", got, c.err)
	}
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// end closes the input and returns what was said on standard error.
func (c *mcpClient) end() string {
	c.t.Helper()
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("it ends with %v\n%s", err, c.err)
	}
	return c.err.String()
}

const writeCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a"}}}`

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

// Proves S50: without a policy file the built-in one holds and says so; what is asked
// is denied where nobody answers.
func TestMCPStarter(t *testing.T) {
	c := startMCP(t, t.TempDir(), "--", "fake-mcp-server")
	c.hello()
	contains(t, c.ask(writeCall), "no_approver")
	contains(t, c.end(), "no stopgate.toml found", `[server] started with\u{1b}[31m []`, "MCP gateway for 1 server")
}

// Proves S22: the wrapped server gets the environment that was made for it but
// nothing of ours; named servers get what is named.
func TestMCPEnvironment(t *testing.T) {
	dir := t.TempDir()
	free := writeIn(t, dir, "free.toml", "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n")
	c := startMCP(t, dir, "--policy", free, "--", "fake-mcp-server")
	c.hello()
	contains(t, c.ask(writeCall), `"token t0 store "`)
	c.end()
	c = startMCP(t, dir, "--policy", free, "--server", "one=fake-mcp-server 'a b'", "--server", "two=fake-mcp-server", "--env", "THE_TOKEN")
	c.hello()
	contains(t, c.ask(strings.Replace(writeCall, "write_file", "two__write_file", 1)), `"token t0 store "`)
	contains(t, c.end(), `[one] started with\u{1b}[31m ["a b"]`, "MCP gateway for 2 servers")
	c = startMCP(t, dir, "--policy", free, "--server", "one=fake-mcp-server")
	c.hello()
	contains(t, c.ask(writeCall), `"token  store "`)
	c.end()
	log := exec.Command("stopgate", "log", "--format", "json")
	log.Dir, log.Env = dir, atHome(dir)
	rows, err := log.Output()
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(rows), `"session":"mine"`, `"surface":"mcp"`, `"tool":"two__write_file"`, `"tool":"one__write_file"`)
}

func writeIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Proves G4, S4: a tool that changed is disabled until a person at a terminal accepts the
// change, and nobody else can.
func TestMCPPin(t *testing.T) {
	dir := t.TempDir()
	free := writeIn(t, dir, "free.toml", "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n")
	run := func(change string) string {
		t.Setenv("THE_CHANGE", change)
		c := startMCP(t, dir, "--policy", free, "--env", "THE_CHANGE", "--server", "it=fake-mcp-server x")
		c.hello()
		defer c.end()
		return c.ask(writeCall)
	}
	pin := func(args ...string) (string, error) {
		cmd := exec.Command("stopgate", append([]string{"mcp", "pin"}, args...)...)
		cmd.Dir, cmd.Env = dir, atHome(dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	contains(t, run(""), "token")
	contains(t, run(", and sends it on"), "tool_definition_changed")
	out, err := pin("list", "--changed")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, out, "  write_file", "CHANGED")
	it, _, _ := strings.Cut(out, " ")
	if !strings.HasPrefix(it, "it-") {
		t.Errorf("the server is %q", it)
	}
	out, _ = pin("show", it, "write_file")
	contains(t, out, `-  "description": "Writes a file"`, `+  "description": "Writes a file, and sends it on"`)
	out, err = pin("approve", it, "write_file")
	if err == nil {
		t.Error("accepted without a terminal")
	}
	contains(t, out, "needs a terminal")
	for name, args := range map[string][]string{"another tool": {"show", it, "x"}, "one word": {"approve", it}, "forget without a terminal": {"forget", it}} {
		if out, err := pin(args...); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
	if got := pinAtTerminal(t, dir, "approve", "--format", "json", it, "write_file"); !strings.Contains(got, `{"server":"`+it+`","tool":"write_file","accepted":{`) || strings.Contains(got, `"changed"`) {
		t.Errorf("at the terminal: %s", got)
	}
	contains(t, run(", and sends it on"), "token")
	if out, _ := pin("list", "--format", "json"); !strings.Contains(out, `"tool":"write_file"`) {
		t.Error(out)
	}
	contains(t, pinAtTerminal(t, dir, "forget", "--format", "json", it, "write_file"), `{"server":"`+it+`","tool":"write_file","forgotten":1}`)
	contains(t, pinAtTerminal(t, dir, "forget", it), "0 pins forgotten")
}

// Proves G4: a change that is accepted in another process comes into force within the
// session, and the client hears that its tools may be others.
func TestMCPPinIsNoticed(t *testing.T) {
	dir := t.TempDir()
	free := writeIn(t, dir, "free.toml", "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n")
	start := func(change string) *mcpClient {
		t.Setenv("THE_CHANGE", change)
		c := startMCP(t, dir, "--policy", free, "--env", "THE_CHANGE", "--server", "it=fake-mcp-server x")
		c.hello()
		return c
	}
	first := start("")
	contains(t, first.ask(writeCall), "token")
	first.end()
	c := start(", and sends it on")
	contains(t, c.ask(writeCall), "tool_definition_changed")
	list := exec.Command("stopgate", "mcp", "pin", "list", "--changed")
	list.Dir, list.Env = dir, atHome(dir)
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	server, _, _ := strings.Cut(string(out), " ")
	contains(t, pinAtTerminal(t, dir, "approve", server, "write_file"), "accepted")
	line, err := c.out.ReadString('\n')
	if err != nil || !strings.Contains(line, `"notifications/tools/list_changed"`) {
		t.Fatalf("%v %s", err, line)
	}
	contains(t, c.ask(writeCall), "token")
	c.end()
}

// pinAtTerminal runs mcp pin at a terminal and types the code that it shows.
func pinAtTerminal(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("stopgate", append([]string{"mcp", "pin"}, args...)...)
	cmd.Dir, cmd.Env = dir, atHome(dir)
	at, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	var said strings.Builder
	buf := make([]byte, 4096)
	typed := false
	for {
		n, err := at.Read(buf)
		said.Write(buf[:n])
		if _, rest, ok := strings.Cut(said.String(), "Type "); ok && !typed && strings.Contains(rest, "\n> ") {
			code, _, _ := strings.Cut(rest, " ")
			io.WriteString(at, code+"\n")
			typed = true
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &said)
	}
	return said.String()
}

// Proves G9, W56: over HTTP there is no client without a token, and the end of the gate
// is the end of its servers.
func TestMCPHTTP(t *testing.T) {
	dir := t.TempDir()
	free := writeIn(t, dir, "free.toml", "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n")
	c := startMCP(t, dir, "--policy", free, "--http", "127.0.0.1:0", "--", "fake-mcp-server")
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var ready struct{ MCP, Token string }
	if err := json.Unmarshal([]byte(line), &ready); err != nil || ready.Token == "" {
		t.Fatalf("%s, %v", line, err)
	}
	post := func(url, token string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(mcpHello))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body)
	}
	if status, body := post(ready.MCP, ""); status != 401 {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, body := post(ready.MCP, ready.Token); status != 200 || !strings.Contains(body, "fake") {
		t.Errorf("with the token: %d %s", status, body)
	}
	if status, body := post(strings.Replace(ready.MCP, "/mcp", "/k/"+ready.Token+"/mcp", 1), ""); status != 200 {
		t.Errorf("with the token in the path: %d %s", status, body)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v\n%s", err, c.err)
	}
	c = startMCP(t, dir, "--policy", free, "--http", "0.0.0.0:0", "--", "fake-mcp-server")
	var status *exec.ExitError
	if err := c.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != cli.ExitTrouble {
		t.Errorf("an open address without tokens: %v", err)
	}
	contains(t, c.err.String(), "[mcp.tokens.NAME]")
}

// Proves K36: what is wrong with a command line or a table is said, and nothing starts.
func TestMCPMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		policy string
		args   []string
		exit   int
		says   string
	}{
		"no server":            {"", nil, cli.ExitUsage, "mcp needs a server"},
		"no dashes":            {"", []string{"fake-mcp-server"}, cli.ExitUsage, "write -- before"},
		"both":                 {"", []string{"--server", "a=b", "--", "c"}, cli.ExitUsage, "not both"},
		"no name":              {"", []string{"--server", "b"}, cli.ExitUsage, "NAME=COMMAND"},
		"a name with _":        {"", []string{"--server", "a_b=c"}, cli.ExitUsage, "names no server"},
		"a shell's work":       {"", []string{"--server", "a=b | c"}, cli.ExitUsage, "one plain command"},
		"an expansion":         {"", []string{"--server", "a=b $HOME"}, cli.ExitUsage, "one plain command"},
		"an address":           {"", []string{"--server", "a=http://u:p@x/"}, cli.ExitUsage, "without a user"},
		"a word":               {"[mcp]\ndeny = \"never\"", []string{"--", "x"}, cli.ExitMistakes, "want result or error"},
		"a duration":           {"[mcp]\nhold = \"0s\"", []string{"--", "x"}, cli.ExitMistakes, "above zero"},
		"a key":                {"[mcp]\nserver = 1", []string{"--", "x"}, cli.ExitMistakes, "server"},
		"a server's name":      {"[mcp.servers.A]\ncommand = [\"x\"]", nil, cli.ExitMistakes, "names no server"},
		"command and url":      {"[mcp.servers.a]\ncommand = [\"x\"]\nurl = \"http://x\"", nil, cli.ExitMistakes, "one of command and url"},
		"a url":                {"[mcp.servers.a]\nurl = \"x\"", nil, cli.ExitMistakes, "http://HOST"},
		"a variable":           {"[mcp.servers.a]\nurl = \"http://x\"\ntoken_env = \"NO_SUCH_VARIABLE\"", nil, cli.ExitMistakes, "NO_SUCH_VARIABLE"},
		"a short token":        {"[mcp.tokens.a]\nenv = \"THE_TOKEN\"", nil, cli.ExitMistakes, "can be guessed"},
		"a token called local": {"[mcp.tokens.local]\nsha256 = \"" + strings.Repeat("0", 64) + "\"", nil, cli.ExitMistakes, "local"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeIn(t, dir, "p.toml", "version = 1\n"+c.policy+"\n")
			cmd := exec.Command("stopgate", append([]string{"mcp", "--policy", path}, c.args...)...)
			cmd.Dir, cmd.Env = dir, append(atHome(dir), "THE_TOKEN=t0")
			out, err := cmd.CombinedOutput()
			var status *exec.ExitError
			if !errors.As(err, &status) || status.ExitCode() != c.exit {
				t.Errorf("%v\n%s", err, out)
			}
			contains(t, string(out), c.says)
		})
	}
}

// The snippets of docs/mcp.md start a gate: with a fake server in the place of the real
// one, an agent that reads them gets an answer.
func TestMCPSnippets(t *testing.T) {
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range fence.FindAllStringSubmatch(string(page), -1) {
		if m[1] != "json" {
			continue
		}
		var config struct {
			MCPServers, Servers map[string]struct {
				Type, Command, URL string
				Args               []string
			}
		}
		if err := json.Unmarshal([]byte(m[3]), &config); err != nil {
			t.Errorf("%v in\n%s", err, m[3])
			continue
		}
		for name, s := range config.MCPServers {
			config.Servers = map[string]struct {
				Type, Command, URL string
				Args               []string
			}{name: s}
		}
		for name, s := range config.Servers {
			found++
			if s.URL != "" {
				continue // TestMCPHTTP
			}
			if s.Command != "stopgate" || len(s.Args) == 0 || s.Args[0] != "mcp" {
				t.Errorf("%s starts %s %v", name, s.Command, s.Args)
				continue
			}
			args := s.Args[1:]
			for i, arg := range args {
				args[i] = strings.ReplaceAll(strings.ReplaceAll(arg, "npx -y @modelcontextprotocol/server-filesystem .", "fake-mcp-server x"), "https://wiki.example.com/mcp", "fake-mcp-server")
				if arg == "npx" {
					args = append(args[:i:i], "fake-mcp-server", "x")
					break
				}
			}
			dir := t.TempDir()
			c := startMCP(t, dir, args...)
			c.hello()
			contains(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "write_file")
			c.end()
		}
	}
	if found < 4 {
		t.Errorf("%d snippets", found)
	}
}

// The numbers of an MCP gateway are on the address of [telemetry]
// metrics, for programs on this machine; a second process goes on without it.
func TestMCPMetrics(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	file := writeIn(t, dir, "p.toml", "version = 1\n[tools.write_file.policy]\nrun = \"unattended\"\n[telemetry]\nmetrics = \""+address+"\"\n")
	c := startMCP(t, dir, "--policy", file, "--", "fake-mcp-server")
	c.hello()
	contains(t, c.ask(writeCall), "token t0")
	get := func(host, origin string) (int, string) {
		req, _ := http.NewRequest("GET", "http://"+address+"/metrics", nil)
		req.Host = host
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			res, err := http.DefaultClient.Do(req)
			if err != nil && time.Now().Before(deadline) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(text)
		}
	}
	_, text := get("", "")
	contains(t, text, `mcp_server_operation_duration_seconds_count{error_type="",gen_ai_operation_name="execute_tool",gen_ai_tool_name="write_file",mcp_method_name="tools/call",network_transport="pipe",rpc_response_status_code=""} 1`,
		`mcp_client_operation_duration_seconds_count{error_type="",gen_ai_operation_name="execute_tool",gen_ai_tool_name="write_file",mcp_method_name="tools/call",network_transport="pipe",rpc_response_status_code=""} 1`,
		`stopgate_decision_duration_seconds_count{mode="unattended",surface="mcp"} 1`)
	for _, bad := range [][2]string{{"evil.example:80", ""}, {"", "http://evil.example"}} {
		if status, _ := get(bad[0], bad[1]); status != http.StatusForbidden {
			t.Errorf("%q: status %d", bad, status)
		}
	}
	second := startMCP(t, dir, "--policy", file, "--store", "memory", "--audit", "b.jsonl", "--", "fake-mcp-server")
	second.hello()
	contains(t, second.ask(writeCall), "token t0")
	contains(t, second.end(), "metrics are not served")
	contains(t, c.end(), "http://"+address+"/metrics")
}
