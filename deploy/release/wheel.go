package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
)

// tags are the platforms of wheels. The program is linked statically: any Linux has what it needs.
// macOS 12 is the oldest one that Go supports.
var tags = map[system][]string{
	{"linux", "amd64"}:  {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{"linux", "arm64"}:  {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{"darwin", "amd64"}: {"macosx_12_0_x86_64"},
	{"darwin", "arm64"}: {"macosx_12_0_arm64"},
}

//go:embed launch/stopgate_cli.py
var pythonModule []byte

const metadata = `Metadata-Version: 2.1
Name: stopgate-cli
Version: %s
Summary: The program stopgate, which decides for every tool call of an AI agent whether it runs
Home-page: https://github.com/stopgate/stopgate
License: Apache-2.0
Requires-Python: >=3.10
Description-Content-Type: text/markdown

The programs of [stopgate](https://github.com/stopgate/stopgate): ` + "`pipx run stopgate-cli`" + ` runs stopgate.
The package ` + "`stopgate`" + ` on PyPI is an unrelated project.
`

// wheel writes the package stopgate-cli of PyPI for a system: both programs, a module that returns
// their paths, and commands that run them.
func wheel(r *release, s system) error {
	files, err := r.content(s)
	if err != nil {
		return err
	}
	info := "stopgate_cli-" + r.version.python() + ".dist-info/"
	kept := map[string]string{"stopgate": "stopgate_cli/bin/stopgate", "stopgate-hook": "stopgate_cli/bin/stopgate-hook",
		"LICENSE": info + "LICENSE", "THIRD-PARTY-NOTICES": info + "THIRD-PARTY-NOTICES"}
	content := []file{{"stopgate_cli/__init__.py", 0o644, pythonModule}, {"stopgate_cli/py.typed", 0o644, nil}}
	for _, f := range files {
		if name := kept[f.name]; name != "" {
			content = append(content, file{name, f.mode, f.text})
		}
	}
	var lines strings.Builder
	for _, tag := range tags[s] {
		lines.WriteString("Tag: py3-none-" + tag + "\n")
	}
	content = append(content,
		file{info + "METADATA", 0o644, fmt.Appendf(nil, metadata, r.version.python())},
		file{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: stopgate\nRoot-Is-Purelib: false\n" + lines.String())},
		file{info + "entry_points.txt", 0o644, []byte("[console_scripts]\nstopgate = stopgate_cli:main\nstopgate-cli = stopgate_cli:main\nstopgate-hook = stopgate_cli:hook\n")})
	var record bytes.Buffer
	for _, f := range content {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	content = append(content, file{info + "RECORD", 0o644, record.Bytes()})
	text, err := r.zipped(content)
	if err != nil {
		return err
	}
	return r.write("stopgate_cli-"+r.version.python()+"-py3-none-"+strings.Join(tags[s], ".")+".whl", text)
}

// zipped returns a zip archive.
func (r *release) zipped(files []file) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
