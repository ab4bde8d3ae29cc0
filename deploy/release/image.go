package main

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/deploy/image"
	"github.com/stopgate/stopgate/deploy/sbom"
)

// imageLicences returns the licences that every image has.
func (r *release) imageLicences() (map[string][]byte, error) {
	var programs []string
	for _, s := range r.systems {
		if s.os == "linux" {
			dir := filepath.Join(r.programs, s.os+"-"+s.arch)
			programs = append(programs, filepath.Join(dir, "stopgate"), filepath.Join(dir, "stopgate-hook"))
		}
	}
	others, err := notices(programs...)
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	return map[string][]byte{"LICENSE": own, "THIRD-PARTY-NOTICES": others}, err
}

// imageRoot writes the files of the image, for builders that make the image themselves.
func imageRoot(r *release) error {
	if len(r.systems) != 1 || r.systems[0].os != "linux" {
		return fmt.Errorf("want -systems with one Linux, not %v", r.systems)
	}
	licences, err := r.imageLicences()
	if err != nil {
		return err
	}
	return image.WriteRoot(r.out, filepath.Join(r.programs, "linux-"+r.systems[0].arch), licences)
}

// imageLayout writes the image as an OCI layout, and the layout in one file.
func imageLayout(r *release) error {
	licences, err := r.imageLicences()
	if err != nil {
		return err
	}
	layout := filepath.Join(r.out, "image")
	if err := image.Write(layout, r.programs, r.version.described, r.time, licences); err != nil {
		return err
	}
	to, err := os.Create(filepath.Join(r.out, "stopgate-"+r.version.described+"-image.tar"))
	if err != nil {
		return err
	}
	defer to.Close()
	w := tar.NewWriter(to)
	err = filepath.WalkDir(layout, func(path string, e fs.DirEntry, err error) error { // in the order of names
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(layout, path)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(text)), ModTime: r.time, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return to.Close()
}

// bill writes the list of the modules in all programs.
func bill(r *release) error {
	var programs []string
	for _, s := range r.systems {
		for _, name := range []string{"stopgate", "stopgate-hook"} {
			programs = append(programs, filepath.Join(r.programs, s.os+"-"+s.arch, name))
		}
	}
	text, err := sbom.List(r.version.described, programs)
	if err != nil {
		return err
	}
	return r.write("stopgate.cdx.json", text)
}
