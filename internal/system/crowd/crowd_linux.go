package crowd

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
)

// runnable is how many threads run or want to (proc_loadavg(5)), 0 if that is not known.
func runnable() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	return runnableOf(text)
}

// runnableOf reads "0.20 0.18 0.12 1/80 11206": the number before the slash.
func runnableOf(text []byte) int {
	fields := bytes.Fields(text)
	if len(fields) < 4 {
		return 0
	}
	now, _, _ := bytes.Cut(fields[3], []byte("/"))
	n, err := strconv.Atoi(string(now))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// processors are those of the machine, whose threads runnable counts: this process may be
// allowed fewer.
var processors = sync.OnceValue(func() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err == nil {
		if n := listed(string(bytes.TrimSpace(text))); n > 0 {
			return n
		}
	}
	return runtime.NumCPU()
})

// listed counts what a list of ranges names, such as "0-3,8": 0 for what is none.
func listed(list string) (n int) {
	for _, part := range bytes.Split([]byte(list), []byte(",")) {
		first, last, isRange := bytes.Cut(part, []byte("-"))
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(string(first))
		to, err2 := strconv.Atoi(string(last))
		if err != nil || err2 != nil || from < 0 || to < from {
			return 0
		}
		n += to - from + 1
	}
	return n
}
