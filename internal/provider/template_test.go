package provider_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// eventOf reads a unit of a stream.
func eventOf(t *testing.T, unit string) (ev sse.Event, root jsonstream.Value) {
	t.Helper()
	d := sse.NewDecoder(nil, sse.Limits{})
	d.Feed([]byte(unit))
	if ok, err := d.Next(&ev); !ok || err != nil {
		t.Fatal("no event", err)
	}
	root, err := jsonstream.Parse(ev.Data, jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ev, root
}

// Proves L2: of matching events the part that is left out, and nothing else, is missing in what is
// kept, wherever values before and after it have another length, and a section is that of the last one.
func TestEventTemplateOmit(t *testing.T) {
	const unit = `data: {"a":1,"cut":{"b":"x"},"usage":{"n":9,"deep":{"m":0},"f":1.5},"p":"y"}` + "\n\n"
	for _, c := range []struct{ name, in, kept, section string }{
		{"the same", unit, `data: {"a":1,"usage":{"n":9,"deep":{"m":0},"f":1.5},"p":"y"}` + "\n\n", `{"n":9,"deep":{"m":0},"f":1.5}`},
		{"longer values", `data: {"a":1,"cut":{"b":"long\""},"usage":{"n":1000,"deep":{"m":77},"f":1.5},"p":""}` + "\n\n", `data: {"a":1,"usage":{"n":1000,"deep":{"m":77},"f":1.5},"p":""}` + "\n\n", `{"n":1000,"deep":{"m":77},"f":1.5}`},
		{"padded", `data: {"a":1,"cut":{"b":""},"usage":{"n":0,"deep":{"m":1},"f":1.5},"p":"y"   }` + "\n\n", `data: {"a":1,"usage":{"n":0,"deep":{"m":1},"f":1.5},"p":"y"   }` + "\n\n", `{"n":0,"deep":{"m":1},"f":1.5}`},
		{"a number that may not differ", `data: {"a":2,"cut":{"b":""},"usage":{"n":0,"deep":{"m":1},"f":1.5},"p":"y"}` + "\n\n", "", ""},
		{"one with a point", `data: {"a":1,"cut":{"b":""},"usage":{"n":0,"deep":{"m":1},"f":1.6},"p":"y"}` + "\n\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev, root := eventOf(t, unit)
			get := func(v jsonstream.Value, name string) jsonstream.Value {
				m, _ := v.Get(name)
				return m
			}
			var r provider.EventTemplate
			usage := get(root, "usage")
			r.Learn(&ev, provider.Counters([]jsonstream.Value{get(get(root, "cut"), "b"), get(root, "p")}, usage)...)
			from, _ := usage.Span()
			key := len(`"usage":`)
			r.Omit(len(`{"a":1,`), from-key)
			start, end := usage.Span()

			size, events := r.Run([]byte(c.in+c.in), 1<<20)
			if c.kept == "" {
				if events != 0 {
					t.Fatalf("%d events match", events)
				}
				return
			}
			if events != 2 || size != 2*len(c.in) || string(r.Kept()) != c.kept+c.kept || string(r.Section(start, end)) != c.section {
				t.Errorf("%d events: kept %q, section %q", events, r.Kept(), r.Section(start, end))
			}
			payload := c.in[len("data: ") : len(c.in)-2]
			if !r.Match([]byte(payload)) || string(r.Kept()) != c.kept[len("data: "):len(c.kept)-2] || string(r.Section(start, end)) != c.section {
				t.Errorf("a payload: kept %q, section %q", r.Kept(), r.Section(start, end))
			}
		})
	}
}

// Events match with any number of spaces before the last brace, however many the learned one has, and
// with no other difference there.
func TestEventTemplatePadding(t *testing.T) {
	unit := func(end string) string { return `data: {"t":"x","n":{"a":true}` + end + "\n\n" }
	for _, learned := range []string{"}", " }", "     }"} {
		ev, root := eventOf(t, unit(learned))
		var r provider.EventTemplate
		text, _ := root.Get("t")
		r.Learn(&ev, text)
		for end, want := range map[string]bool{"}": true, " }": true, "    }": true, "     }": true, "         }": true, "} ": false, "\t}": false, " ,}": false, "    ]": false} {
			size, events := r.Run([]byte(unit(end)), 1<<20)
			if got := events == 1 && size == len(unit(end)); got != want || !want && events != 0 {
				t.Errorf("%q after %q: %d events of %d bytes", end, learned, events, size)
			}
			if payload := unit(end)[len("data: ") : len(unit(end))-2]; r.Match([]byte(payload)) != want {
				t.Errorf("%q after %q: a payload matches: %t", end, learned, !want)
			}
		}
	}
}

// A part that begins or ends inside a value that may differ makes the template match nothing.
func TestEventTemplateOmitsNoPartOfAValue(t *testing.T) {
	const text = `{"a":"x","b":2}`
	root, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := root.Get("a")
	var r provider.EventTemplate
	r.Learn(plain(t, text), a)
	from, to := a.Span()
	if r.Omit(from+1, to); r.Learned() || r.Match([]byte(text)) {
		t.Error("half of a value is left out")
	}
}
