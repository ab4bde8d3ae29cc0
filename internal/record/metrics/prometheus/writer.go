package prometheus

import (
	"cmp"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// writer writes the text format. It keeps the first error.
type writer struct {
	to   io.Writer
	text []byte
	err  error
	heap *runtime.MemStats // read once, because reading stops the program
}

// memory returns the statistics of the runtime.
func (w *writer) memory() *runtime.MemStats {
	if w.heap == nil {
		w.heap = new(runtime.MemStats)
		runtime.ReadMemStats(w.heap)
	}
	return w.heap
}

// flushAt is the number of bytes that are written together.
const flushAt = 32 << 10

func (w *writer) flush() error {
	if w.err == nil && len(w.text) > 0 {
		_, w.err = w.to.Write(w.text)
	}
	w.text = w.text[:0]
	return w.err
}

// family writes a metric with its help and kind, unless it has no series. Labels are sorted by
// their names, series by the values of their labels in that order.
func (w *writer) family(f *family) {
	order := make([]int, len(f.labels)) // the labels' places in f.labels
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(f.labels[a], f.labels[b]) })
	var all []series
	for _, part := range f.parts {
		all = append(all, part()...)
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b series) int {
		for _, at := range order {
			if c := cmp.Compare(a.values[at], b.values[at]); c != 0 {
				return c
			}
		}
		return 0
	})
	w.text = append(append(append(append(append(w.text, "# HELP "...), f.name...), ' '), escape(f.help, false)...), '\n')
	w.text = append(append(append(append(append(w.text, "# TYPE "...), f.name...), ' '), f.kind...), '\n')
	for _, s := range all {
		labels := ""
		for _, at := range order {
			labels = label(labels, f.labels[at], s.values[at])
		}
		s.write(w, labels)
		if len(w.text) >= flushAt {
			_ = w.flush() // it keeps the error
		}
	}
}

// label adds a label to the text of others.
func label(labels, name, value string) string {
	if labels != "" {
		labels += ","
	}
	return labels + name + `="` + escape(value, true) + `"`
}

// escape escapes a text of a comment or, with quotes, the value of a label.
func escape(text string, quotes bool) string {
	if !strings.ContainsAny(text, "\\\n\"") {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "\n", `\n`)
	if quotes {
		text = strings.ReplaceAll(text, `"`, `\"`)
	}
	return text
}

// sample writes one line.
func (w *writer) sample(name, labels string, value float64) {
	w.text = append(w.text, name...)
	if labels != "" {
		w.text = append(append(append(w.text, '{'), labels...), '}')
	}
	w.text = append(append(append(w.text, ' '), number(value)...), '\n')
}

func number(value float64) string {
	switch {
	case value == 0: // also if its sign is negative
		return "0"
	case math.IsInf(value, 1):
		return "+Inf"
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}
