// Command playground builds the playground: a page that decides tool calls in the browser. Any
// server of files can serve the directory that it writes.
//
//	go run ./playground -o dist/playground
//
// It runs in the root of the module. The same commit and compiler write the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed web
var web embed.FS

func main() {
	out := flag.String("o", "dist/playground", "`DIR` to write")
	root := flag.String("root", ".", "`DIR` with the module")
	flag.Parse()
	if err := build(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// build writes the page to a directory, which it replaces.
func build(root, out string) error {
	files := map[string][]byte{}
	err := fs.WalkDir(web, "web", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[strings.TrimPrefix(path, "web/")], err = web.ReadFile(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if files["wasm_exec.js"], err = loader(); err != nil {
		return err
	}
	core, err := compile(root)
	if err != nil {
		return err
	}
	if files["stopgate.wasm.gz"], err = compress(core); err != nil {
		return err
	}
	list, err := readExamples(root)
	if err != nil {
		return err
	}
	if files["examples.json"], err = json.Marshal(list); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s: the decision core has %d bytes, %d compressed\n", out, len(core), len(files["stopgate.wasm.gz"]))
	return nil
}

// loader reads the part of the page that comes with the compiler: it connects the core to JavaScript.
func loader() ([]byte, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the loader of the Go distribution: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
}

// compile compiles the decision core to WebAssembly.
func compile(root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "playground-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "stopgate.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", file, "./playground/wasm")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the decision core: %w\n%s", err, text)
	}
	return os.ReadFile(file)
}

// compress compresses without a time or a name, so that the same core has the same bytes.
func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
