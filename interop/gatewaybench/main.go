package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const clients = 8 // requests at once

func main() {
	if as := os.Getenv(role); as != "" {
		fail(serve(as))
	}
	program := flag.String("stopgate", "../bin/stopgate", "`PROGRAM` to measure")
	rounds := flag.Int("rounds", 7, "`N` rounds")
	only := flag.String("only", "", "measure traffic whose name contains `TEXT`")
	page := flag.String("write", "", "write the table to a `FILE`, between its marks")
	flag.Parse()
	fail(run(*program, *rounds, *only, *page))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gatewaybench:", err)
		os.Exit(1)
	}
}

func run(program string, rounds int, only, page string) error {
	program, err := filepath.Abs(program) // it is started in another directory
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gatewaybench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	provider, err := startRole("provider", "provider")
	if err != nil {
		return err
	}
	defer provider.end()
	parts, err := startParts(program, dir, provider.url)
	defer endParts(parts)
	if err != nil {
		return err
	}
	var rows []row
	for _, t := range plan() {
		if !strings.Contains(t.Name, only) {
			continue
		}
		r, err := t.measure(parts, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		fmt.Fprint(os.Stderr, r.lines())
		rows = append(rows, r)
	}
	var idle []idleRow
	if strings.Contains(idleModel, only) {
		if idle, err = idleRows(program, dir, provider.url); err != nil {
			return err
		}
	}
	text := table(rows) + idleTable(idle)
	fmt.Print(text)
	if page == "" {
		return nil
	}
	return write(page, text)
}

// startParts starts what is compared, as far as it is installed.
func startParts(program, dir, provider string) (parts []*part, err error) {
	for _, begin := range []func() (*part, error){
		func() (*part, error) { return startRole("proxy", "proxy "+provider) },
		func() (*part, error) { return startGate(program, dir, provider) },
		func() (*part, error) { return startNginx(dir, provider) },
		func() (*part, error) { return startPortkey(provider) },
	} {
		p, err := begin()
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return parts, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func endParts(parts []*part) {
	for _, p := range parts {
		p.end()
	}
}

// cost is what one round of a part took.
type cost struct{ time, cpu float64 }

// measure runs rounds of the traffic over all parts. The first round warms them up.
func (t traffic) measure(parts []*part, rounds int) (row, error) {
	r := row{traffic: t, costs: map[string][]cost{}}
	for i := range rounds + 1 {
		for j := range parts {
			p := parts[(i+j)%len(parts)]
			if p.name == "portkey" && t.Dialect != "chat" {
				continue
			}
			c, err := t.flood(p)
			if err != nil {
				return r, fmt.Errorf("%s: %w", p.name, err)
			}
			if i > 0 {
				r.costs[p.name] = append(r.costs[p.name], c)
			}
		}
	}
	return r, nil
}

// flood sends all requests of a round over a part.
func (t traffic) flood(p *part) (cost, error) {
	before, err := p.cpu()
	if err != nil {
		return cost{}, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client, work := &http.Client{Transport: transport}, make(chan struct{}, t.Count)
	for range t.Count {
		work <- struct{}{}
	}
	close(work)
	var all sync.WaitGroup
	failed := make([]error, clients)
	begin := time.Now()
	for i := range clients {
		all.Go(func() {
			for range work {
				if err := t.fetch(client, p); err != nil {
					failed[i] = err
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(begin)
	after, err := p.cpu()
	return cost{took.Seconds(), (after - before).Seconds()}, errors.Join(append(failed, err)...)
}

// conversations counts requests: each begins a conversation.
var conversations atomic.Int64

// fetch makes a request and reads its answer, which must be complete and have its call.
func (t traffic) fetch(client *http.Client, p *part) error {
	request, err := http.NewRequest("POST", p.url+t.path(), strings.NewReader(t.request(conversations.Add(1))))
	if err != nil {
		return err
	}
	request.Header = p.header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Anthropic-Version", "2023-06-01")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var tail [64]byte
	n, buffer := 0, make([]byte, 32<<10)
	for {
		m, err := answer.Body.Read(buffer)
		keep(&tail, buffer[:m])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if end := strings.TrimRight(string(tail[:]), "\x00"); answer.StatusCode != http.StatusOK || !strings.HasSuffix(end, t.end()) || n < t.Size {
		return fmt.Errorf("status %d, %d bytes that end in %q", answer.StatusCode, n, end)
	}
	return nil
}

// keep makes tail the end of what was read.
func keep(tail *[64]byte, p []byte) {
	if len(p) >= len(tail) {
		copy(tail[:], p[len(p)-len(tail):])
		return
	}
	copy(tail[:], tail[len(p):])
	copy(tail[len(tail)-len(p):], p)
}

// row is a row of the table.
type row struct {
	traffic
	costs map[string][]cost
}

// ratios returns the ratios of a part to the proxy in the same round, sorted.
func (r row) ratios(part string, of func(cost) float64) (all []float64) {
	for i, c := range r.costs[part] {
		all = append(all, of(c)/of(r.costs["proxy"][i]))
	}
	slices.SortFunc(all, cmp.Compare[float64])
	return all
}

// median returns the median of sorted numbers.
func median(all []float64) float64 { return all[len(all)/2] }

// ratio returns the median, the smallest and the largest ratio of a part.
func (r row) ratio(part string, of func(cost) float64) string {
	all := r.ratios(part, of)
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(all), all[0], all[len(all)-1])
}

func (r row) lines() string {
	var b strings.Builder
	for _, p := range []string{"stopgate", "nginx", "portkey"} {
		if len(r.costs[p]) > 0 {
			fmt.Fprintf(&b, "%-46s %-9s time %s, own CPU %s\n", r.Name, p, r.ratio(p, byTime), r.ratio(p, byCPU))
		}
	}
	return b.String()
}

func byTime(c cost) float64 { return c.time }
func byCPU(c cost) float64  { return c.cpu }
