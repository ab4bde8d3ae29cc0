package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version is set by the linker for releases.
var version = ""

func printVersion(w io.Writer) {
	v, revision := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	if v == "" {
		v = "(devel)"
	}
	fmt.Fprintf(w, "stopgate %s%s %s/%s %s\n", v, revision, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
