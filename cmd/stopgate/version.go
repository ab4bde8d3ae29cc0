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
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	fmt.Fprintf(w, "stopgate %s%s %s/%s %s\n", release(), revision, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// release is the version of the program.
func release() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
