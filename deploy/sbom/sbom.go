// Package sbom lists the modules of programs in CycloneDX's form: those that the Go compiler wrote
// into them, with their versions and checksums. The same programs give the same bytes.
package sbom

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// List returns the bill of materials of programs.
func List(version string, programs []string) ([]byte, error) {
	bom := cdx.NewBOM()
	modules := map[string]cdx.Component{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		main := component(cdx.ComponentTypeApplication, info.Main.Path, version)
		bom.Metadata = &cdx.Metadata{Component: &main}
		add := func(c cdx.Component) { modules[c.PackageURL] = c }
		add(component(cdx.ComponentTypeLibrary, "std", strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")))
		for _, m := range info.Deps {
			c, err := library(m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", program, err)
			}
			add(c)
		}
	}
	var all []cdx.Component
	for _, c := range modules {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b cdx.Component) int { return strings.Compare(a.PackageURL, b.PackageURL) })
	bom.Components = &all
	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return text.Bytes(), err
}

func component(kind cdx.ComponentType, path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}

// library describes a module. A module without a checksum is not one of the module mirror, and an
// error.
func library(m *debug.Module) (cdx.Component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	c := component(cdx.ComponentTypeLibrary, m.Path, m.Version)
	sum, ok := strings.CutPrefix(m.Sum, "h1:")
	hash, err := base64.StdEncoding.DecodeString(sum)
	if !ok || err != nil || len(hash) != 32 {
		return c, errors.New("module " + m.Path + " has no checksum")
	}
	c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	return c, nil
}
