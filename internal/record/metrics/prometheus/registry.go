// Package prometheus keeps counters, histograms and gauges, and writes them in the text format of
// Prometheus, version 0.0.4.
//
//	r := prometheus.NewRegistry()
//	calls := r.Counter("calls_total", "Calls.", "tool")
//	calls.With("read").Add(1)
//	http.Handle("/metrics", r)
//
// It writes the bytes that the official library writes for the same numbers. That library is not
// linked because its initialization takes a millisecond in every process, also in one that serves
// no metrics.
package prometheus

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Registry is a set of metrics with distinct names. It is an [http.Handler] for scrapes. All methods
// of it and of its metrics may be called at the same time.
type Registry struct {
	scrapes chan struct{} // a token for each scrape that is being answered

	mu       sync.Mutex
	families map[string]*family
}

// maxScrapes is the number of scrapes that are answered at the same time.
const maxScrapes = 4

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{scrapes: make(chan struct{}, maxScrapes), families: map[string]*family{}}
}

// family is a metric with all its series.
type family struct {
	name, help, kind string
	labels           []string
	parts            []func() []series
}

// series is one series of a family: the values of its labels and what writes it.
type series struct {
	values []string
	write  func(w *writer, labels string)
}

// add registers a metric. Names, kinds and labels are constants of the program, so that an invalid
// one is a mistake in it: add panics. A metric with labels may be added in parts, each of which
// has series of its own.
func (r *Registry) add(f *family, part func() []series) {
	if !valid(f.name, ":") || slices.ContainsFunc(f.labels, func(l string) bool { return !valid(l, "") || l == "le" || l == "quantile" }) {
		panic(fmt.Sprintf("prometheus: invalid name or label: %s %q", f.name, f.labels))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.families[f.name]
	switch {
	case known == nil:
		known = f
		r.families[f.name] = f
	case len(f.labels) == 0 || f.kind != known.kind || f.help != known.help || !slices.Equal(f.labels, known.labels):
		panic("prometheus: " + f.name + " is registered twice")
	}
	known.parts = append(known.parts, part)
}

// valid reports whether name is letters, digits, underscores and more, and begins with no digit.
func valid(name, more string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || strings.ContainsRune(more, c)
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Gauge registers a number that is read for each scrape.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.Read("gauge", name, help, nil, func(yield func(float64, ...string)) { yield(read()) })
}

// Read registers a metric of a kind, counter or gauge, whose series are read for each scrape: read
// calls yield with each value and its labels.
func (r *Registry) Read(kind, name, help string, labels []string, read func(yield func(value float64, labels ...string))) {
	r.add(&family{name: name, help: help, kind: kind, labels: labels}, func() (all []series) {
		read(func(value float64, values ...string) {
			all = append(all, series{values, func(w *writer, labels string) { w.sample(name, labels, value) }})
		})
		return all
	})
}

// Names returns the names of all metrics, sorted.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sorted(r.families)
}

// Write writes all metrics that have series, sorted by their names and the values of their labels.
func (r *Registry) Write(to io.Writer) error {
	r.mu.Lock()
	var all []family
	for _, name := range sorted(r.families) {
		all = append(all, *r.families[name])
	}
	r.mu.Unlock()
	w := &writer{to: to}
	for i := range all {
		w.family(&all[i])
	}
	return w.flush()
}

// ServeHTTP answers a scrape, compressed if the client accepts it.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	select {
	case r.scrapes <- struct{}{}:
		defer func() { <-r.scrapes }()
	default:
		http.Error(w, fmt.Sprintf("%d scrapes are being answered, try again later", maxScrapes), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if !gzipped(q.Header.Get("Accept-Encoding")) {
		_ = r.Write(w) // the client is gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	zip := gzip.NewWriter(w)
	_ = r.Write(zip)
	_ = zip.Close()
}

// gzipped reports whether a list of encodings has gzip without a weight.
func gzipped(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		if strings.TrimSpace(part) == "gzip" {
			return true
		}
	}
	return false
}
