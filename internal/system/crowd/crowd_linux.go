package crowd

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
)

// runnable returns the number of runnable threads (proc_loadavg(5)), or 0 if it is unknown.
func runnable() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	return runnableOf(text)
}

// runnableOf parses "0.20 0.18 0.12 1/80 11206": the number before the slash.
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

// processors is the number of processors of the machine, to which runnable refers; this process may
// be restricted to fewer.
var processors = sync.OnceValue(func() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err == nil {
		if n := listed(string(bytes.TrimSpace(text))); n > 0 {
			return n
		}
	}
	return runtime.NumCPU()
})

// listed counts the numbers in a list of ranges such as "0-3,8"; it returns 0 for an invalid list.
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
