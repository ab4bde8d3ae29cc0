package merge_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/merge"
	"github.com/stopgate/stopgate/jsonstream"
)

func parse(t *testing.T, text string) jsonstream.Value {
	t.Helper()
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Proves that a slow server delays the others by 20 seconds only, that its result still arrives, and
// that a panic of one server is an error of that server.
func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var work sync.WaitGroup
		late := make(chan merge.Result[string, int], 1)
		begun := time.Now()
		results := merge.Gather(t.Context(), &work, []string{"fast", "slow", "broken"}, func(server string) (int, error) {
			switch server {
			case "slow":
				time.Sleep(time.Minute)
				return 2, nil
			case "broken":
				panic("no list")
			}
			return 1, nil
		}, func(r merge.Result[string, int]) { late <- r })
		if waited := time.Since(begun); waited != 20*time.Second {
			t.Errorf("waited %v", waited)
		}
		if results[0].Value != 1 || results[0].Err != nil || results[1].Err == nil || results[2].Err == nil {
			t.Errorf("%+v", results)
		}
		list, err := merge.Succeeded(results, func(string, error) {})
		if len(list) != 1 || err != nil {
			t.Errorf("succeeded: %+v %v", list, err)
		}
		work.Wait()
		if r := <-late; r.Server != "slow" || r.Value != 2 {
			t.Errorf("late: %+v", r)
		}
	})
}

// Proves that a cancelled request does not wait for its servers.
func TestGatherCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var work sync.WaitGroup
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		results := merge.Gather(ctx, &work, []string{"a"}, func(string) (int, error) { time.Sleep(time.Second); return 1, nil }, nil)
		if !errors.Is(results[0].Err, gone) {
			t.Errorf("%v", results[0].Err)
		}
		work.Wait()
	})
}

// Proves that a merged list has the elements of all pages byte for byte and the shortest cache time,
// and that a page without the list is refused.
func TestList(t *testing.T) {
	list := merge.List{Member: "tools", TTL: 60_000}
	for page, ok := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}`: false,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":{}}}`:   false,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`:      false,
	} {
		if list.Add([]byte(page)) != ok {
			t.Errorf("%s", page)
		}
	}
	list.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[ {"n":1.0}],"ttlMs":500}}`))
	list.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"n":2}],"ttlMs":900}}`))
	const want = `{"tools":[{"n":1.0},{"n":2}],"resultType":"complete","ttlMs":500,"cacheScope":"private"}`
	if got := string(list.Result(true)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Proves that several servers appear as one with the lowest version and the union of their
// capabilities, whose tools can always change; tasks and experimental capabilities are omitted.
func TestCapabilities(t *testing.T) {
	parts := []merge.Part{
		{Server: "a", Result: parse(t, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"instructions":"Use a."}`)},
		{Server: "b", Result: parse(t, `{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true,"listChanged":false},"experimental":{"x":true}}}`)},
	}
	version, got := merge.Initialize(parts, []byte(`{"name":"g"}`))
	const want = `{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true},"tools":{"listChanged":true}},"serverInfo":{"name":"g"},"instructions":"a: Use a."}`
	if version != "2025-06-18" || string(got) != want {
		t.Errorf("%s\n got %s\nwant %s", version, got, want)
	}
}

// Proves that a resource belongs to the first server that listed it, or to the one with the longest
// template that matches.
func TestResources(t *testing.T) {
	var r merge.Resources[string]
	r.Add(parse(t, `{"resources":[{"uri":"file:///a"}],"resourceTemplates":[{"uriTemplate":"db://{table}"}]}`), "one")
	r.Add(parse(t, `{"resources":[{"uri":"file:///a"}],"resourceTemplates":[{"uriTemplate":"db://users/{id}"}]}`), "two")
	for uri, want := range map[string]string{"file:///a": "one", "db://orders": "one", "db://users/7": "two", "file:///b": ""} {
		if got, ok := r.Server(uri); got != want || ok != (want != "") {
			t.Errorf("%s: %q", uri, got)
		}
	}
}
