package index_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// memory is what the heap has after a collection.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Texts beyond the budget are not scanned: a result of 50 MiB costs no memory, and anything may be in
// it.
func TestHugeResult(t *testing.T) {
	huge := bytes.Repeat([]byte("mallory@evil.example and more words\n"), 50<<20/36)
	before := memory()
	ix := index.New(key, index.Options{})
	segment := ix.Add(&index.Batch{Know: everything, Result: true, Tool: "fetch", Texts: []index.Text{{Text: huge, Sources: []flow.Source{flow.Tool}}}})
	if used := memory() - before; used > 1<<20 || len(segment) > 1<<10 {
		t.Errorf("%d bytes of memory, a segment of %d", used, len(segment))
	}
	f := ix.View().Find([]byte("x@example.com"), query(flow.Email, flow.Tool))
	if f.Certain || !f.Possible || f.Doubt != flow.Dropped {
		t.Errorf("Find = %+v", f)
	}
	runtime.KeepAlive(huge)
}

// A result with 100,000 leaves, and 100,000 results, stay within the budget.
func TestManyTexts(t *testing.T) {
	n := property.Cases(10_000, 100_000, 100_000)
	one := index.New(key, index.Options{})
	b := &index.Batch{Know: everything, Result: true, Tool: "list"}
	for i := range n {
		b.Texts = append(b.Texts, index.Text{Ref: flow.Ref{Tool: "list", Pointer: fmt.Sprintf("/%d/name", i)}, Text: fmt.Appendf(nil, "user%d", i), Sources: []flow.Source{flow.Tool}})
	}
	b.Echo = [][]byte{bytes.Repeat([]byte("users please "), 1000)}
	one.Add(b)
	many := index.New(key, index.Options{})
	for i := range n {
		many.Add(&index.Batch{Know: everything, Key: fmt.Append(nil, i), Result: true, Tool: "list", Texts: b.Texts[i : i+1]})
	}
	for name, ix := range map[string]*index.Index{"one result": one, "many results": many} {
		size, _ := ix.Size()
		if size > 24<<20 {
			t.Errorf("%s: an index of %d bytes", name, size)
		}
		v := ix.View()
		f := v.Find(fmt.Appendf(nil, "user%d", n-1), query(flow.Text, flow.Tool))
		if !f.Certain || f.First.Number != n {
			t.Errorf("%s: Find = %+v", name, f)
		}
		if want := fmt.Sprintf("/%d/name", n-1); f.First.Pointer != want {
			t.Errorf("%s: pointer %q", name, f.First.Pointer)
		}
	}
}

// One word a million times, in texts, arguments and values: time is linear, and where it would not be,
// the answer is a doubt.
func TestRepeatedWords(t *testing.T) {
	million := bytes.Repeat([]byte("a "), 1<<20)
	ix := index.New(key, index.Options{})
	ix.Add(&index.Batch{Know: everything, Result: true, Tool: "fetch", Echo: [][]byte{bytes.Repeat([]byte("a b "), 1<<18)}, Texts: []index.Text{text(string(million), flow.Tool), text(strings.Repeat("a c ", 1<<18), flow.Tool)}})
	v := ix.View()
	for _, value := range []string{"a a", strings.Repeat("a ", 1000) + "c", strings.Repeat("a ", 1<<16), "a b a b a c", "c a b"} {
		q := query(flow.Text, flow.Tool)
		q.Weak, q.Tokens = true, 3
		if f := v.Find([]byte(value), q); f.Doubt&^flow.Dropped != 0 {
			t.Errorf("Find(%.20q) = %+v", value, f)
		}
		v.Carries([]byte(value), q)
	}
	if f := v.Find([]byte("a a a"), query(flow.Text, flow.Tool)); !f.Certain {
		t.Errorf("a row of words: %+v", f)
	}
}

// Views answer while texts are added.
func TestConcurrentUse(t *testing.T) {
	ix := index.New(key, index.Options{Budget: 1 << 16})
	restored := index.New(key, index.Options{Budget: 1 << 16})
	var wait sync.WaitGroup
	segments := make(chan []byte, 200)
	for worker := range 4 {
		wait.Go(func() {
			for i := range 50 {
				segments <- ix.Add(&index.Batch{Know: everything, Person: i%10 == 0, Said: []string{"x"}, Texts: []index.Text{text(fmt.Sprintf("bob%d@example.com of worker %d %s", i, worker, strings.Repeat("word ", 100)), flow.Tool)}})
				v := ix.View()
				v.Find(fmt.Appendf(nil, "bob%d@example.com", i), query(flow.Email, flow.Tool))
				v.Carries([]byte("of worker 1 word word"), query(flow.Text, flow.Tool))
				v.Read(query(flow.Text, flow.Tool), nil, true)
				ix.Size()
			}
		})
		wait.Go(func() {
			for range 50 {
				if err := restored.Restore(<-segments); err != nil {
					t.Error(err)
				}
				restored.Written([]byte("x"), flow.ID)
			}
		})
	}
	wait.Wait()
}

// What a call wrote is added in linear time and memory, and within the budget.
func TestManyWrittenTexts(t *testing.T) {
	b := &index.Batch{}
	for i := range 20_000 {
		b.Written = append(b.Written, fmt.Appendf(nil, "word%d", i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ix := index.New(key, index.Options{})
	ix.Add(b)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
		t.Errorf("%d MiB of memory", used>>20)
	}
	if !ix.Written([]byte("word19999"), flow.Text) || ix.Written([]byte("word20000"), flow.Text) {
		t.Error("what was written is not known")
	}
	small := index.New(key, index.Options{Budget: 4 << 10})
	small.Add(b)
	if !small.Written([]byte("word20000"), flow.Text) {
		t.Error("an index without room for what was written is certain")
	}
	if size, _ := small.Size(); size > 64<<10 {
		t.Errorf("%d bytes of a budget of 4 KiB", size)
	}
}
