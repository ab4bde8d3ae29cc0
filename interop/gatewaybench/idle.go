package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// idleModel is the model whose answer begins and then stays open.
	idleModel = "idle"
	// idleStreams are open at once.
	idleStreams = 5000
	// warmStreams are opened before the first measurement, so that what every process has once does
	// not count.
	warmStreams = 100
	// settles is the time between the last event and the measurement.
	settles = 3 * time.Second
)

// idleRow is the memory of a stream in which nothing happens, by parts: KiB, resident.
type idleRow struct {
	name string
	kib  map[string]float64
}

// measureIdle measures all parts on one kind of connection to the provider.
func measureIdle(name string, parts []*part) (idleRow, error) {
	r := idleRow{name, map[string]float64{}}
	for _, p := range parts {
		if p.name == "portkey" {
			continue
		}
		kib, err := p.idle()
		if err != nil {
			return r, fmt.Errorf("%s: %w", p.name, err)
		}
		r.kib[p.name] = kib
		fmt.Fprintf(os.Stderr, "%-46s %-9s %.1f KiB\n", name, p.name, kib)
	}
	return r, nil
}

// idleRows measures new processes, whose memory other traffic has not shaped, with a provider that
// speaks HTTP/1.1 and with one that speaks HTTP/2.
func idleRows(program, dir, provider string) (rows []idleRow, err error) {
	plain, http2 := filepath.Join(dir, "http1"), filepath.Join(dir, "http2")
	if err := errors.Join(os.Mkdir(plain, 0o700), os.Mkdir(http2, 0o700)); err != nil {
		return nil, err
	}
	parts, err := startParts(program, plain, provider)
	defer endParts(parts)
	if err != nil {
		return nil, err
	}
	r, err := measureIdle("HTTP/1.1", parts)
	if err != nil {
		return nil, err
	}
	rows = append(rows, r)
	file := filepath.Join(dir, "provider.pem")
	secure, err := startRole("provider", "provider-tls "+file)
	if err != nil {
		return nil, err
	}
	defer secure.end()
	trusts := "SSL_CERT_FILE=" + file
	proxy, err := startRole("proxy", "proxy "+secure.url, trusts)
	if err != nil {
		return nil, err
	}
	defer proxy.end()
	gateway, err := startGate(program, http2, secure.url, trusts)
	if err != nil {
		return nil, err
	}
	defer gateway.end()
	if r, err = measureIdle("HTTP/2", []*part{proxy, gateway}); err != nil {
		return nil, err
	}
	return append(rows, r), nil
}

// idle returns the resident memory of an open stream over the part, in KiB.
func (p *part) idle() (float64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := &http.Client{Transport: &http.Transport{}}
	if err := p.open(ctx, client, warmStreams); err != nil {
		return 0, err
	}
	time.Sleep(settles)
	before, err := p.resident()
	if err != nil {
		return 0, err
	}
	if err := p.open(ctx, client, idleStreams); err != nil {
		return 0, err
	}
	time.Sleep(settles)
	after, err := p.resident()
	return float64(after-before) / 1024 / idleStreams, err
}

// open opens streams and reads the first event of each. They end with the context.
func (p *part) open(ctx context.Context, client *http.Client, n int) error {
	t := traffic{Name: idleModel, Dialect: "chat", Stream: true}
	for i := range n {
		request, err := http.NewRequestWithContext(ctx, "POST", p.url+t.path(), strings.NewReader(t.request(conversations.Add(1))))
		if err != nil {
			return err
		}
		if request.Header = p.header.Clone(); request.Header == nil {
			request.Header = http.Header{}
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		if _, err := io.ReadFull(answer.Body, make([]byte, 10)); err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("stream %d: status %d: %w", i, answer.StatusCode, err)
		}
	}
	return nil
}

// resident returns the resident memory of the part's processes, in bytes.
func (p *part) resident() (sum int64, err error) {
	pids, err := p.processes()
	for _, pid := range pids {
		text, gone := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
		if gone != nil {
			continue
		}
		if f := bytes.Fields(text); len(f) > 1 {
			pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum, err
}

// serveTLS serves HTTP/2 with a certificate of its own, which it writes to a file.
func serveTLS(ln net.Listener, h http.Handler, file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return err
	}
	fmt.Println("https://" + ln.Addr().String())
	srv := &http.Server{Handler: h, TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	return srv.ServeTLS(ln, "", "")
}

// idleTable is the result in Markdown.
func idleTable(rows []idleRow) string {
	if len(rows) == 0 {
		return ""
	}
	parts := []string{"stopgate", "proxy", "nginx"}
	var b strings.Builder
	fmt.Fprintf(&b, "\nMemory of a stream in which nothing happens, resident, of %d at once, in KiB:\n\n| provider |", idleStreams)
	for _, p := range parts {
		fmt.Fprintf(&b, " %s |", p)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(parts)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, p := range parts {
			if kib, ok := r.kib[p]; ok {
				fmt.Fprintf(&b, " %.1f |", kib)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
