package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// sizesBegin and sizesEnd are the lines around the table of sizes in a page.
const (
	sizesBegin = "<!-- sizes: written by make release-sizes -->\n"
	sizesEnd   = "<!-- end of sizes -->\n"
)

// sizes writes the table of the files of the release into pages.
func (r *release) sizes(pages []string) error {
	table, err := r.sizeTable()
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		before, rest, found := strings.Cut(string(text), sizesBegin)
		_, after, ends := strings.Cut(rest, sizesEnd)
		if !found || !ends {
			return fmt.Errorf("%s: want the lines %q and %q", page, sizesBegin, sizesEnd)
		}
		if err := os.WriteFile(page, []byte(before+sizesBegin+table+sizesEnd+after), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sizeTable returns the files and their sizes, in Markdown.
func (r *release) sizeTable() (string, error) {
	entries, err := os.ReadDir(r.out) // sorted
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| file | size |\n|---|---:|\n")
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return "", err
		}
		if info.Mode().IsRegular() {
			fmt.Fprintf(&out, "| `%s` | %s |\n", r.anyVersion(e.Name()), sizeText(info.Size()))
		}
	}
	return out.String(), nil
}

// anyVersion replaces the version in the name of a file with VERSION.
func (r *release) anyVersion(name string) string {
	forms := []string{r.version.described}
	for _, spell := range spellings {
		forms = append(forms, spell(r.version))
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, form := range forms {
		if before, after, found := strings.Cut(name, form); found {
			return before + "VERSION" + after
		}
	}
	return name
}

// sizeText returns a size with two or three digits.
func sizeText(size int64) string {
	switch kb := float64(size) / 1000; {
	case kb < 10:
		return fmt.Sprintf("%.1f KB", kb)
	case kb < 1000:
		return fmt.Sprintf("%.0f KB", kb)
	default:
		return fmt.Sprintf("%.1f MB", kb/1000)
	}
}
