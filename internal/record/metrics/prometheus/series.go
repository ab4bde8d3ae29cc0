package prometheus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Counter is a metric whose series only grow.
type Counter struct{ vector[Count] }

// Counter registers a counter with labels.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	c := &Counter{vector[Count]{name: name, labels: len(labels), empty: func() *Count { return new(Count) }, series: map[string]*Count{}}}
	r.add(&family{name: name, help: help, kind: "counter", labels: labels}, func() []series {
		return c.all(func(n *Count, w *writer, labels string) { n.write(w, name, labels) })
	})
	return c
}

// Count is one series of a counter.
type Count struct {
	mu sync.Mutex
	n  float64
}

// Add adds n, which must not be negative.
func (c *Count) Add(n float64) {
	if n < 0 {
		panic("prometheus: a counter cannot shrink")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
}

func (c *Count) write(w *writer, name, labels string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.sample(name, labels, c.n)
}

// Histogram is a metric whose series count values by their size.
type Histogram struct{ vector[Distribution] }

// Histogram registers a histogram with labels. The bounds of its buckets are inclusive and ascend;
// values above the last are counted, too.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	if len(bounds) == 0 || !slices.IsSorted(bounds) {
		panic("prometheus: the bounds of " + name + " do not ascend")
	}
	empty := func() *Distribution { return &Distribution{bounds: bounds, buckets: make([]uint64, len(bounds)+1)} }
	h := &Histogram{vector[Distribution]{name: name, labels: len(labels), empty: empty, series: map[string]*Distribution{}}}
	r.add(&family{name: name, help: help, kind: "histogram", labels: labels}, func() []series {
		return h.all(func(d *Distribution, w *writer, labels string) { d.write(w, name, labels) })
	})
	return h
}

// Distribution is one series of a histogram.
type Distribution struct {
	bounds []float64

	mu      sync.Mutex
	buckets []uint64 // one for each bound, then that for greater values
	sum     float64
}

// Observe counts a value.
func (d *Distribution) Observe(value float64) {
	at, _ := slices.BinarySearch(d.bounds, value)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.buckets[at]++
	d.sum += value
}

func (d *Distribution) write(w *writer, name, labels string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := uint64(0)
	for i, bound := range d.bounds {
		total += d.buckets[i]
		w.sample(name+"_bucket", label(labels, "le", number(bound)), float64(total))
	}
	total += d.buckets[len(d.bounds)]
	w.sample(name+"_bucket", label(labels, "le", "+Inf"), float64(total))
	w.sample(name+"_sum", labels, d.sum)
	w.sample(name+"_count", labels, float64(total))
}

// vector is the series of a metric by the values of their labels.
type vector[S any] struct {
	name   string
	labels int
	empty  func() *S

	mu     sync.RWMutex
	series map[string]*S
}

// end ends each value in the key of a series. No UTF-8 text contains it.
const end = "\xff"

// With returns the series with the values of all labels, in their order, and makes it if it is new.
// Bytes that are not UTF-8 are replaced.
func (v *vector[S]) With(values ...string) *S {
	if len(values) != v.labels {
		panic(fmt.Sprintf("prometheus: %s has %d labels, not %d", v.name, v.labels, len(values)))
	}
	var room [192]byte
	key := room[:0]
	for _, value := range values {
		if !utf8.ValidString(value) {
			value = strings.ToValidUTF8(value, string(utf8.RuneError))
		}
		key = append(append(key, value...), end...)
	}
	v.mu.RLock()
	s := v.series[string(key)]
	v.mu.RUnlock()
	if s != nil {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s = v.series[string(key)]; s == nil {
		s = v.empty()
		v.series[string(key)] = s
	}
	return s
}

// all returns the series that there are, which write writes.
func (v *vector[S]) all(write func(s *S, w *writer, labels string)) (all []series) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for key, s := range v.series {
		values := strings.Split(key, end)
		all = append(all, series{values[:v.labels], func(w *writer, labels string) { write(s, w, labels) }})
	}
	return all
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
