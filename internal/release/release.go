// Package release has the version of the programs.
//
//	fmt.Println(release.Line("stopgate")) // stopgate v1.2.0 0a1b2c3d4e5f linux/amd64 go1.26.0
//
// Programs that were built together print the same version.
package release

import (
	"runtime"
	"runtime/debug"
)

// version is set by the linker for releases.
var version = ""

// Version returns the version, "(devel)" for a build without one.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf returns the version of a program with build information, which may be nil.
func versionOf(info *debug.BuildInfo) string {
	if version != "" {
		return version
	}
	if info != nil && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Line describes a program: its name, version, revision, system and compiler.
func Line(program string) string {
	revision := ""
	info, ok := debug.ReadBuildInfo() // it parses a long text
	if ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	return program + " " + versionOf(info) + revision + " " + runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()
}
