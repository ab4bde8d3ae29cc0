package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// places are where packages of Linux have the files of an archive, by name or directory. Names that
// end with / keep the name of the file, "" leaves the file out.
var places = map[string]string{
	"stopgate":                       "/usr/bin/",
	"stopgate-hook":                  "/usr/bin/",
	"README.md":                      "/usr/share/doc/stopgate/",
	"CHANGELOG.md":                   "/usr/share/doc/stopgate/",
	"LICENSE":                        "/usr/share/licenses/stopgate/",
	"THIRD-PARTY-NOTICES":            "/usr/share/licenses/stopgate/",
	"man/man1":                       "/usr/share/man/man1/",
	"man/man5":                       "/usr/share/man/man5/",
	"completions/stopgate.bash":      "/usr/share/bash-completion/completions/stopgate",
	"completions/_stopgate":          "/usr/share/zsh/site-functions/",
	"completions/stopgate.fish":      "/usr/share/fish/vendor_completions.d/",
	"systemd/stopgate.service":       "/usr/lib/systemd/system/",
	"systemd/stopgate-hook.service":  "/usr/lib/systemd/user/",
	"systemd/stopgate.sysusers.conf": "/usr/lib/sysusers.d/stopgate.conf",
}

// elsewhere are the places that one kind of package has elsewhere.
var elsewhere = map[string]map[string]string{
	"deb": {
		"LICENSE":               "/usr/share/doc/stopgate/copyright",
		"THIRD-PARTY-NOTICES":   "/usr/share/doc/stopgate/",
		"completions/_stopgate": "/usr/share/zsh/vendor-completions/",
	},
	"apk": {"systemd": ""}, // Alpine has no systemd
}

// placeOf returns the path of a file in a kind of package. A file without a place is an error.
func placeOf(kind, name string) (string, error) {
	for _, table := range []map[string]string{elsewhere[kind], places} {
		for _, key := range []string{name, path.Dir(name)} {
			if to, ok := table[key]; ok {
				if strings.HasSuffix(to, "/") {
					to += path.Base(name)
				}
				return to, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no place in a package", name)
}

// linuxPackage makes a kind with a package for each Linux. Packages have no scripts: nothing is
// started, enabled or asked.
func linuxPackage(kind string) func(*release, system) error {
	return func(r *release, s system) error {
		if s.os != "linux" {
			return nil
		}
		staged, err := os.MkdirTemp("", "stopgate-package-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(staged)
		contents, err := r.stage(staged, kind, s)
		if err != nil {
			return err
		}
		info := r.info(kind, s, contents)
		packager, err := nfpm.Get(kind)
		if err != nil {
			return err
		}
		if err := nfpm.PrepareForPackager(info, kind); err != nil {
			return err
		}
		var out bytes.Buffer
		if err := packager.Package(info, &out); err != nil {
			return err
		}
		return r.write(packager.ConventionalFileName(info), out.Bytes())
	}
}

// stage writes the files of a package to a directory, and returns their places.
func (r *release) stage(dir, kind string, s system) (files.Contents, error) {
	all, err := r.content(s)
	if err != nil {
		return nil, err
	}
	var contents files.Contents
	for i, f := range all {
		to, err := placeOf(kind, f.name)
		if err != nil {
			return nil, err
		}
		if to == "" {
			continue
		}
		if strings.HasPrefix(f.name, "man/") {
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped) // without a name and a time
			w.Write(f.text)              // to memory: cannot fail
			w.Close()
			to, f.text = to+".gz", zipped.Bytes()
		}
		if strings.HasSuffix(f.name, ".service") {
			if f.text, err = unit(f.text); err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
		}
		from := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(from, f.text, 0o600); err != nil {
			return nil, err
		}
		c := &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.time}}
		if kind == "rpm" && strings.HasPrefix(to, "/usr/share/licenses/") {
			c.Type = files.TypeRPMLicense
		}
		contents = append(contents, c)
	}
	if kind == "rpm" { // removes only directories that it lists
		for _, dir := range []string{"/usr/share/doc/stopgate", "/usr/share/licenses/stopgate"} {
			contents = append(contents, &files.Content{Destination: dir, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: r.time}})
		}
	}
	return contents, nil
}

// info describes the package.
func (r *release) info(kind string, s system, contents files.Contents) *nfpm.Info {
	info := &nfpm.Info{
		Name:          "stopgate",
		Arch:          s.arch,
		Platform:      "linux",
		Version:       r.version.linux(),
		VersionSchema: "none",
		Section:       "utils",
		Priority:      "optional",
		Maintainer:    "stopgate <https://github.com/stopgate/stopgate>",
		Description:   "decide whether an AI agent's tool calls may run\nA policy decision point for the tool calls of AI agents: it decides from one policy file whether a\ncall runs, needs an approval or is denied, while the model is still writing the call.",
		Vendor:        "stopgate",
		Homepage:      "https://github.com/stopgate/stopgate",
		License:       "Apache-2.0",
		MTime:         r.time,
		Overridables:  nfpm.Overridables{Contents: contents, Umask: 0o022},
	}
	switch kind {
	case "apk":
		info.Version = r.version.alpine()
	case "rpm":
		info.RPM.BuildHost, info.RPM.Packager = "localhost", info.Maintainer
		info.RPM.Summary, info.Release = "decide whether an AI agent's tool calls may run", "1"
	}
	return info
}
