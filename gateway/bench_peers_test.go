package gateway_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkPeers runs the floods through other gateways, where they are installed
// (make peers): nginx, which forwards bytes, and Portkey's, which reads events. Each
// is compared with ReverseProxy, as ours is in the other benchmarks.
func BenchmarkPeers(b *testing.B) {
	for _, peer := range []struct {
		name  string
		start func(b *testing.B, upstream string) (chain, error)
	}{{"nginx", startNginx}, {"portkey", startPortkey}} {
		for _, script := range []string{"calls", "text", "large"} {
			b.Run(peer.name+"/"+script, func(b *testing.B) {
				source, proxy, _ := chains(b, script)
				c, err := peer.start(b, source.url)
				if err != nil {
					b.Skip("not installed: ", err)
				}
				compare(b, source, proxy.speak(script), c.speak(script), 8, 64)
			})
		}
	}
}

func startNginx(b *testing.B, upstream string) (chain, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return chain{}, err
	}
	dir, address := b.TempDir(), freeAddress(b)
	conf := fmt.Sprintf(`daemon off; worker_processes 2; pid %[1]s/pid; error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  upstream provider { server %[2]s; keepalive 128; }
  server { listen %[3]s; keepalive_requests 1000000;
    location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } }
}`, dir, strings.TrimPrefix(upstream, "http://"), address)
	file := dir + "/nginx.conf"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return chain{}, err
	}
	return startPeer(b, address, exec.Command(path, "-p", dir, "-c", file)), nil
}

// portkey is where make peers installs it.
const portkey = "../interop/peers/node_modules/@portkey-ai/gateway/build/start-server.js"

func startPortkey(b *testing.B, upstream string) (chain, error) {
	if _, err := os.Stat(portkey); err != nil {
		return chain{}, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return chain{}, err
	}
	address := freeAddress(b)
	_, port, _ := strings.Cut(address, ":")
	c := startPeer(b, address, exec.Command(node, portkey, "--port="+port, "--headless"))
	c.header = map[string]string{"X-Portkey-Provider": "openai", "X-Portkey-Custom-Host": upstream + "/v1", "Authorization": "Bearer none"}
	return c, nil
}

// startPeer runs another server in its own process group and waits until it listens.
func startPeer(b *testing.B, address string, cmd *exec.Cmd) chain {
	b.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
	})
	deadline := time.Now().Add(30 * time.Second)
	for {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			b.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	c := newChain(b, "http://"+address)
	c.clock = func() time.Duration { return groupCPU(cmd.Process.Pid) }
	return c
}

// groupCPU returns the CPU time of all processes of a group, in the kernel's ticks.
func groupCPU(group int) (sum time.Duration) {
	const tick = 10 * time.Millisecond
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) < 13 || f[2] != strconv.Itoa(group) {
			continue
		}
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		sum += time.Duration(user+system) * tick
	}
	return sum
}

// freeAddress returns an unused address.
func freeAddress(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
