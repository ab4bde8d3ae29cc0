package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/stopgate/stopgate/interop/gate"
)

// part is a process, or a group of them, on the path to the provider.
type part struct {
	name   string
	url    string
	header http.Header // that a client has to send
	cmd    *exec.Cmd
}

// role is the variable that makes this program one part of a path: "provider", "provider-tls FILE" with
// HTTP/2 and a certificate that it writes to the file, or "proxy URL".
const role = "GATEWAYBENCH_ROLE"

// serve is the program in a role. It ends with its parent.
func serve(as string) error {
	name, target, _ := strings.Cut(as, " ")
	var h http.Handler
	switch name {
	case "provider", "provider-tls":
		p, err := newProvider()
		if err != nil {
			return err
		}
		h = p
	case "proxy":
		base, err := url.Parse(target)
		if err != nil {
			return err
		}
		h = reverseProxy(base)
	default:
		return fmt.Errorf("no such role: %q", name)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if name == "provider-tls" {
		return serveTLS(ln, h, target)
	}
	fmt.Println("http://" + ln.Addr().String())
	return http.Serve(ln, h)
}

func reverseProxy(base *url.URL) http.Handler {
	rp := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(base) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true, ForceAttemptHTTP2: true},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// ReverseProxy cuts fast streams whose request is not read (golang/go#40747).
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
		rp.ServeHTTP(w, r)
	})
}

// start starts a process in a group of its own and returns the first line that it prints.
func start(cmd *exec.Cmd) (line string, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // closed when this process ends
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err = bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

func startRole(name, as string, env ...string) (*part, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), role+"="+as), env...)
	line, err := start(cmd)
	return &part{name: name, url: line, cmd: cmd}, err
}

// startGate starts stopgate as its users do: `stopgate init`, `stopgate trust` and then `stopgate up`.
func startGate(program, dir, provider string, more ...string) (*part, error) {
	env := append(append(os.Environ(), gate.Home(dir)...), more...)
	for _, command := range [][]string{{"init"}, {"trust"}} {
		cmd := exec.Command(program, command...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("stopgate %s: %w\n%s", command[0], err, out)
		}
	}
	cmd := exec.Command(program, "up", "--listen", "127.0.0.1:0", "--api-socket", "none", "--openai-upstream", provider+"/v1", "--anthropic-upstream", provider, "--log-level", "error")
	cmd.Dir, cmd.Env = dir, env
	line, err := start(cmd)
	if err != nil {
		return nil, err
	}
	var ready struct{ Gateway string }
	if err := json.Unmarshal([]byte(line), &ready); err != nil || ready.Gateway == "" {
		return nil, fmt.Errorf("stopgate up printed %q", line)
	}
	return &part{name: "stopgate", url: ready.Gateway, cmd: cmd, header: http.Header{"Authorization": {"Bearer none"}, "X-Api-Key": {"none"}}}, nil
}

// errAbsent reports a peer that is not installed.
var errAbsent = errors.New("not installed (make peers)")

func startNginx(dir, provider string) (*part, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return nil, errAbsent
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	conf := fmt.Sprintf(`daemon off; worker_processes 2; worker_rlimit_nofile 20000; pid %[1]s/pid; error_log stderr error;
events { worker_connections 16384; }
http {
  access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s; client_max_body_size 64m;
  upstream provider { server %[2]s; keepalive 128; }
  server { listen %[3]s; keepalive_requests 1000000;
    location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } }
}`, dir, strings.TrimPrefix(provider, "http://"), address)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return nil, err
	}
	return startServer("nginx", address, exec.Command(path, "-p", dir, "-c", file))
}

func startPortkey(provider string) (*part, error) {
	program := filepath.Join("peers", "node_modules", "@portkey-ai", "gateway", "build", "start-server.js")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(program); err != nil || missing != nil {
		return nil, errAbsent
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	p, err := startServer("portkey", address, exec.Command(node, program, "--port="+port, "--headless"))
	if err == nil {
		p.header = http.Header{"X-Portkey-Provider": {"openai"}, "X-Portkey-Custom-Host": {provider + "/v1"}, "Authorization": {"Bearer none"}}
	}
	return p, err
}

// startServer starts a server that prints nothing, and waits until it listens.
func startServer(name, address string, cmd *exec.Cmd) (*part, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &part{name: name, url: "http://" + address, cmd: cmd}
	for limit := time.Now().Add(30 * time.Second); ; {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return p, c.Close()
		}
		if time.Now().After(limit) {
			p.end()
			return nil, fmt.Errorf("%s does not listen: %w", name, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// end ends the processes of the part.
func (p *part) end() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// cpu returns the CPU time of the part's processes.
func (p *part) cpu() (sum time.Duration, err error) {
	pids, err := p.processes()
	for _, pid := range pids {
		t, err := processClock(pid)
		if err != nil {
			return 0, err
		}
		sum += t
	}
	return sum, err
}

// processes lists the processes of the part.
func (p *part) processes() (pids []int, err error) {
	group := strconv.Itoa(p.cmd.Process.Pid)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, gone := os.ReadFile(path)
		if gone != nil {
			continue
		}
		// The fields after the name, which may have spaces: state, parent, group.
		if f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(f) > 2 && f[2] == group {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// processClock returns the CPU time of all threads of a process, also of those that have ended.
func processClock(pid int) (time.Duration, error) {
	var t syscall.Timespec
	const scheduled = 2 // the kernel's clock of the time that a process was on a processor
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|scheduled), uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}
