package jsonstream_test

import (
	"fmt"

	"github.com/stopgate/stopgate/jsonstream"
)

func ExampleParser() {
	var args jsonstream.Aggregator
	p := jsonstream.NewParser(&args, jsonstream.Options{ObjectRoot: true})
	for _, chunk := range []string{`{ "path": "src/m`, `ain\u002ego", "lines"`, `: [1, 20] }`} {
		if err := p.Feed([]byte(chunk)); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := p.Close(); err != nil {
		fmt.Println(err)
		return
	}
	path, _ := args.Document().Root().Get("path")
	fmt.Println(path.Text())
	fmt.Println(string(args.Bytes()))
	// Output:
	// src/main.go
	// {"path":"src/main.go","lines":[1,20]}
}

func ExampleError() {
	_, err := jsonstream.Parse([]byte(`{"path":"src/a","\u0070ath":".env"}`), jsonstream.Options{})
	fmt.Println(err)
	// Output: json: a key is there twice at byte 27, in "/path" (duplicate_key)
}

func ExampleFragmentWriter() {
	var w jsonstream.FragmentWriter
	p := jsonstream.NewParser(&w, jsonstream.Options{})
	for _, chunk := range []string{`{"paths":["sr`, `c/a"],"n":1}`} {
		p.Feed([]byte(chunk))
		w.Flush()
	}
	p.Close()
	fmt.Print(w.String())
	// Output:
	// ObjectEntry{paths: ArrayItem{0, String("sr")}}
	// ObjectEntry{paths: ArrayItem{0, String("c/a")}}
	// ObjectEntry{paths: ArrayItem{0, Done}}
	// ObjectEntry{paths: Done}
	// ObjectEntry{n: Scalar(1)}
	// ObjectEntry{n: Done}
	// Done
}

func ExampleFragmentMux() {
	var received jsonstream.FragmentAggregator
	m := jsonstream.FragmentMux{Emit: func(f *jsonstream.Fragment) (stop bool) {
		line := f.AppendJSON(nil) // to another process
		fmt.Printf("%s", line)
		read, _ := jsonstream.ParseFragment(line)
		received.Add(&read)
		return false
	}}
	m.Open(0, "call_1", "fs_read")
	for _, chunk := range []string{`{"path":"sr`, `c/a"}`} {
		m.Feed(0, []byte(chunk))
	}
	m.Close(0)
	fmt.Println(string(received.Bytes()))
	// Output:
	// {"index":0,"call":"call_1","tool":"fs_read","path":["path"],"string":"sr"}
	// {"index":0,"call":"call_1","tool":"fs_read","path":["path"],"string":"c/a"}
	// {"index":0,"call":"call_1","tool":"fs_read","path":["path"],"done":"string"}
	// {"index":0,"call":"call_1","tool":"fs_read","path":[],"done":"object"}
	// {"path":"src/a"}
}

func ExampleSplice() {
	text := []byte(`{"role":"assistant","tool_calls":[{}],"content":null}`)
	root, _ := jsonstream.Parse(text, jsonstream.Options{})
	edits := root.AppendRemovals(nil, func(key, _ jsonstream.Value) bool { return key.IsText("tool_calls") })
	out, _ := jsonstream.Splice(nil, text, edits)
	fmt.Println(string(out))
	// Output: {"role":"assistant","content":null}
}

func ExampleDecimal() {
	limit, _ := jsonstream.ParseDecimal([]byte(`9007199254740992`))
	n, _ := jsonstream.ParseDecimal([]byte(`9007199254740993`))
	fmt.Println(n.Cmp(limit) > 0, n.IsInteger())
	// Output: true true
}
