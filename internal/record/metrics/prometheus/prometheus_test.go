package prometheus_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	official "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/record/metrics/prometheus"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

func scrape(t testing.TB, h http.Handler) (text string, header http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String(), w.Header()
}

// Every text is the same, byte for byte, as that of the official library for the same numbers.
func TestSameAsOfficial(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		ours, theirs := prometheus.NewRegistry(), official.NewRegistry()
		const help = "Help with \\, \" and\na line."
		labels := rapid.SampledFrom([][]string{nil, {"b"}, {"z", "a", "m"}}).Draw(rt, "labels")
		bounds := rapid.SampledFrom([][]float64{{1}, {-1, 0, .1, 2.5, 1e6}, {.00001, 1e21}}).Draw(rt, "bounds")
		counter, histogram := ours.Counter("c_total", help, labels...), ours.Histogram("h", help, bounds, labels...)
		counter2 := official.NewCounterVec(official.CounterOpts{Name: "c_total", Help: help}, labels)
		histogram2 := official.NewHistogramVec(official.HistogramOpts{Name: "h", Help: help, Buckets: bounds}, labels)
		theirs.MustRegister(counter2, histogram2)
		gauge := rapid.Float64().Draw(rt, "gauge")
		ours.Gauge("g", "", func() float64 { return gauge })
		theirs.MustRegister(official.NewGaugeFunc(official.GaugeOpts{Name: "g"}, func() float64 { return gauge }))
		for _, reason := range []string{"slow", "full"} {
			ours.Read("counter", "parts_total", "In parts.", []string{"reason"}, func(yield func(float64, ...string)) { yield(1e6, reason) })
			theirs.MustRegister(official.NewCounterFunc(official.CounterOpts{Name: "parts_total", Help: "In parts.", ConstLabels: official.Labels{"reason": reason}},
				func() float64 { return 1e6 }))
		}
		for range rapid.IntRange(0, 20).Draw(rt, "operations") {
			values := make([]string, len(labels))
			for i := range values {
				values[i] = rapid.OneOf(rapid.SampledFrom([]string{"", "a", "ab", "a\"b", "a\\nb", "a\nb", "é\x00"}), rapid.String()).Draw(rt, "value")
			}
			n := rapid.OneOf(rapid.Float64Range(-2, 1e7), rapid.SampledFrom(append([]float64{math.Inf(1)}, bounds...))).Draw(rt, "number")
			histogram.With(values...).Observe(n)
			histogram2.WithLabelValues(values...).Observe(n)
			m := float64(rapid.IntRange(0, 1e9).Draw(rt, "whole number")) // the official library adds others up separately
			counter.With(values...).Add(m)
			counter2.WithLabelValues(values...).Add(m)
		}
		got, header := scrape(t, ours)
		want, header2 := scrape(t, promhttp.HandlerFor(theirs, promhttp.HandlerOpts{}))
		if got != want {
			rt.Fatalf("got:\n%s\nwant:\n%s", got, want)
		}
		if kind := header.Get("Content-Type"); !strings.HasPrefix(header2.Get("Content-Type"), kind) {
			rt.Fatalf("Content-Type %q, not %q", kind, header2.Get("Content-Type"))
		}
	})
}

// The metrics of the process have the names and kinds of the official library.
func TestProcess(t *testing.T) {
	ours, theirs := prometheus.NewRegistry(), official.NewRegistry()
	ours.Process()
	theirs.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	kinds := func(h http.Handler) []string {
		text, _ := scrape(t, h)
		return regexp.MustCompile(`(?m)^# TYPE .*$`).FindAllString(text, -1)
	}
	got, want := kinds(ours), kinds(promhttp.HandlerFor(theirs, promhttp.HandlerOpts{}))
	for _, kind := range got {
		if !slices.Contains(want, kind) {
			t.Errorf("the official library has no %q", kind)
		}
	}
	// The rest needs the package runtime/metrics or belongs to the network namespace.
	for _, kind := range want {
		if !slices.Contains(got, kind) && !regexp.MustCompile(` (go_gc_go\w+|process_network_\w+) `).MatchString(kind) {
			t.Errorf("%q is missing", kind)
		}
	}
	text, _ := scrape(t, ours)
	if bad := regexp.MustCompile(`(?m)^(process_cpu_seconds_total|process_open_fds|process_max_fds|process_resident_memory_bytes|go_goroutines|go_threads|go_memstats_sys_bytes|process_start_time_seconds) (0|NaN|-.*)$`).FindString(text); bad != "" {
		t.Error(bad)
	}
}

// Series may be counted and scraped at the same time.
func TestAtTheSameTime(t *testing.T) {
	r := prometheus.NewRegistry()
	c, h := r.Counter("c_total", "", "l"), r.Histogram("h", "", []float64{1}, "l")
	var all sync.WaitGroup
	for _, value := range []string{"a", "a", "b", "b"} {
		all.Go(func() {
			for range 1000 {
				c.With(value).Add(1)
				h.With(value).Observe(1)
			}
		})
	}
	all.Go(func() {
		for range 20 {
			if err := r.Write(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	text, _ := scrape(t, r)
	for _, want := range []string{`c_total{l="a"} 2000`, `c_total{l="b"} 2000`, `h_count{l="a"} 2000`, `h_bucket{l="b",le="1"} 2000`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// A label that is not UTF-8 is one valid series.
func TestInvalidLabel(t *testing.T) {
	r := prometheus.NewRegistry()
	r.Counter("c_total", "", "a", "b").With("x\xffy", "\xff").Add(1)
	if text, _ := scrape(t, r); !strings.Contains(text, "c_total{a=\"x\uFFFDy\",b=\"\uFFFD\"} 1\n") {
		t.Error(text)
	}
}

// Mistakes of the program panic when the metric is made or used.
func TestMistakes(t *testing.T) {
	for name, mistake := range map[string]func(*prometheus.Registry){
		"twice":        func(r *prometheus.Registry) { r.Counter("c", ""); r.Counter("c", "") },
		"other labels": func(r *prometheus.Registry) { r.Counter("c", "", "a"); r.Counter("c", "", "b") },
		"other kind":   func(r *prometheus.Registry) { r.Counter("c", "", "a"); r.Histogram("c", "", []float64{1}, "a") },
		"name":         func(r *prometheus.Registry) { r.Counter("0c", "") },
		"label":        func(r *prometheus.Registry) { r.Counter("c", "", "a-b") },
		"le":           func(r *prometheus.Registry) { r.Histogram("c", "", []float64{1}, "le") },
		"bounds":       func(r *prometheus.Registry) { r.Histogram("c", "", []float64{2, 1}) },
		"values":       func(r *prometheus.Registry) { r.Counter("c", "", "a").With() },
		"shrink":       func(r *prometheus.Registry) { r.Counter("c", "").With().Add(-1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			mistake(prometheus.NewRegistry())
		})
	}
}

// A client that accepts it gets a compressed answer; more than four at once are refused.
func TestScrapes(t *testing.T) {
	r := prometheus.NewRegistry()
	entered, leave := make(chan struct{}), make(chan struct{})
	r.Gauge("g", "", func() float64 {
		entered <- struct{}{}
		<-leave
		return 1
	})
	serve := func(encoding string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		q := httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil)
		q.Header.Set("Accept-Encoding", encoding)
		r.ServeHTTP(w, q)
		return w
	}
	answers := make(chan *httptest.ResponseRecorder, 4)
	for range 4 {
		go func() { answers <- serve("br, gzip") }()
		<-entered
	}
	if w := serve(""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a fifth got %d", w.Code)
	}
	close(leave)
	for range 4 {
		w := <-answers
		in, err := gzip.NewReader(w.Body)
		if err != nil || w.Header().Get("Content-Encoding") != "gzip" {
			t.Fatal(err, w.Header())
		}
		if text, err := io.ReadAll(in); err != nil || !bytes.HasSuffix(text, []byte("\ng 1\n")) {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// Counting in a series that is there allocates nothing.
func TestCountingAllocatesNothing(t *testing.T) {
	r := prometheus.NewRegistry()
	c, h := r.Counter("c_total", "", "surface", "tool"), r.Histogram("h", "", []float64{1, 2, 3}, "surface")
	if n := testing.AllocsPerRun(100, func() {
		c.With("gateway", "read_file").Add(1)
		h.With("gateway").Observe(2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
