package prometheus

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Process registers metrics of the Go runtime and of the process, with the names and kinds that
// the official library gives to them. The time at which the process started is that of the call.
func (r *Registry) Process() {
	r.Read("gauge", "go_info", "Information about the Go environment.", []string{"version"},
		func(yield func(float64, ...string)) { yield(1, runtime.Version()) })
	r.Gauge("go_goroutines", "Number of goroutines that currently exist.", func() float64 { return float64(runtime.NumGoroutine()) })
	r.Gauge("go_threads", "Number of OS threads created.", func() float64 {
		n, _ := runtime.ThreadCreateProfile(nil)
		return float64(n)
	})
	r.Gauge("go_sched_gomaxprocs_threads", "Number of threads that can execute Go code simultaneously.",
		func() float64 { return float64(runtime.GOMAXPROCS(0)) })
	r.add(&family{name: "go_gc_duration_seconds", kind: "summary",
		help: "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles."}, func() []series {
		return []series{{nil, pauses}}
	})
	started := float64(time.Now().UnixMilli()) / 1000
	r.Gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", func() float64 { return started })
	r.memory()
	r.system()
}

// pauses writes how long collections of garbage stopped the program.
func pauses(w *writer, _ string) {
	const name = "go_gc_duration_seconds"
	s := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&s)
	for i, q := range s.PauseQuantiles {
		w.sample(name, label("", "quantile", number(float64(i)/4)), q.Seconds())
	}
	w.sample(name+"_sum", "", s.PauseTotal.Seconds())
	w.sample(name+"_count", "", float64(s.NumGC))
}

// memory registers the statistics of the memory of the runtime.
func (r *Registry) memory() {
	type stats = runtime.MemStats
	for _, m := range []struct {
		kind, name, help string
		read             func(*stats) uint64
	}{
		{"gauge", "alloc_bytes", "Number of bytes allocated in heap and currently in use.", func(m *stats) uint64 { return m.Alloc }},
		{"counter", "alloc_bytes_total", "Total number of bytes allocated in heap until now, even if released already.", func(m *stats) uint64 { return m.TotalAlloc }},
		{"gauge", "buck_hash_sys_bytes", "Number of bytes used by the profiling bucket hash table.", func(m *stats) uint64 { return m.BuckHashSys }},
		{"counter", "frees_total", "Total number of heap objects freed.", func(m *stats) uint64 { return m.Frees }},
		{"gauge", "gc_sys_bytes", "Number of bytes used for garbage collection system metadata.", func(m *stats) uint64 { return m.GCSys }},
		{"gauge", "heap_alloc_bytes", "Number of heap bytes allocated and currently in use.", func(m *stats) uint64 { return m.HeapAlloc }},
		{"gauge", "heap_idle_bytes", "Number of heap bytes waiting to be used.", func(m *stats) uint64 { return m.HeapIdle }},
		{"gauge", "heap_inuse_bytes", "Number of heap bytes that are in use.", func(m *stats) uint64 { return m.HeapInuse }},
		{"gauge", "heap_objects", "Number of currently allocated objects.", func(m *stats) uint64 { return m.HeapObjects }},
		{"gauge", "heap_released_bytes", "Number of heap bytes released to OS.", func(m *stats) uint64 { return m.HeapReleased }},
		{"gauge", "heap_sys_bytes", "Number of heap bytes obtained from system.", func(m *stats) uint64 { return m.HeapSys }},
		{"counter", "mallocs_total", "Total number of heap objects allocated, both live and freed.", func(m *stats) uint64 { return m.Mallocs }},
		{"gauge", "mcache_inuse_bytes", "Number of bytes in use by mcache structures.", func(m *stats) uint64 { return m.MCacheInuse }},
		{"gauge", "mcache_sys_bytes", "Number of bytes used for mcache structures obtained from system.", func(m *stats) uint64 { return m.MCacheSys }},
		{"gauge", "mspan_inuse_bytes", "Number of bytes in use by mspan structures.", func(m *stats) uint64 { return m.MSpanInuse }},
		{"gauge", "mspan_sys_bytes", "Number of bytes used for mspan structures obtained from system.", func(m *stats) uint64 { return m.MSpanSys }},
		{"gauge", "next_gc_bytes", "Number of heap bytes when next garbage collection will take place.", func(m *stats) uint64 { return m.NextGC }},
		{"gauge", "other_sys_bytes", "Number of bytes used for other system allocations.", func(m *stats) uint64 { return m.OtherSys }},
		{"gauge", "stack_inuse_bytes", "Number of bytes obtained from system for stack allocator.", func(m *stats) uint64 { return m.StackInuse }},
		{"gauge", "stack_sys_bytes", "Number of bytes obtained from system for stack allocator and for threads.", func(m *stats) uint64 { return m.StackSys }},
		{"gauge", "sys_bytes", "Number of bytes obtained from system.", func(m *stats) uint64 { return m.Sys }},
	} {
		name := "go_memstats_" + m.name
		r.add(&family{name: name, help: m.help, kind: m.kind}, func() []series {
			return []series{{nil, func(w *writer, _ string) { w.sample(name, "", float64(m.read(w.memory()))) }}}
		})
	}
	const last = "go_memstats_last_gc_time_seconds"
	r.add(&family{name: last, help: "Number of seconds since 1970 of last garbage collection.", kind: "gauge"}, func() []series {
		return []series{{nil, func(w *writer, _ string) { w.sample(last, "", float64(w.memory().LastGC)/1e9) }}}
	})
}
