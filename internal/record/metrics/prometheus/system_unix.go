//go:build linux || darwin

package prometheus

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// system registers the processor time, the files and the memory of the process, as far as the
// system shows them.
func (r *Registry) system() {
	r.Read("counter", "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", nil, func(yield func(float64, ...string)) {
		var u syscall.Rusage
		if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
			yield(float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9)
		}
	})
	limit := func(name, help string, of int) {
		r.Read("gauge", name, help, nil, func(yield func(float64, ...string)) {
			var l syscall.Rlimit
			if syscall.Getrlimit(of, &l) == nil {
				yield(float64(l.Cur))
			}
		})
	}
	limit("process_max_fds", "Maximum number of open file descriptors.", syscall.RLIMIT_NOFILE)
	limit("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", syscall.RLIMIT_AS)
	r.Read("gauge", "process_open_fds", "Number of open file descriptors.", nil, func(yield func(float64, ...string)) {
		if files, err := os.ReadDir("/proc/self/fd"); err == nil {
			yield(float64(len(files) - 1)) // without that of the directory
		}
	})
	pages := func(name, help string, column int) {
		r.Read("gauge", name, help, nil, func(yield func(float64, ...string)) {
			text, err := os.ReadFile("/proc/self/statm")
			if columns := bytes.Fields(text); err == nil && column < len(columns) {
				if n, err := strconv.ParseUint(string(columns[column]), 10, 64); err == nil {
					yield(float64(n) * float64(os.Getpagesize()))
				}
			}
		})
	}
	pages("process_virtual_memory_bytes", "Virtual memory size in bytes.", 0)
	pages("process_resident_memory_bytes", "Resident memory size in bytes.", 1)
}
