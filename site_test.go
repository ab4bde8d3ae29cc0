package stopgate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// navigated finds the pages in the navigation of the documentation site.
var navigated = regexp.MustCompile(`(?m)^ +- (?:.*: )?([\w./-]+\.md)$`)

// Readers of the site find every page in its navigation, once.
func TestEveryPageIsInTheNavigation(t *testing.T) {
	text, err := os.ReadFile("site/mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, nav, _ := strings.Cut(string(text), "\nnav:\n")
	var listed []string
	for _, m := range navigated.FindAllStringSubmatch(nav, -1) {
		if slices.Contains(listed, m[1]) {
			t.Errorf("site/mkdocs.yml: %s is in the navigation twice", m[1])
		}
		listed = append(listed, m[1])
	}
	for _, page := range documents(t) {
		if i := slices.Index(listed, strings.TrimPrefix(page, "docs/")); i >= 0 {
			listed = slices.Delete(listed, i, i+1)
		} else if strings.HasPrefix(page, "docs/") {
			t.Errorf("%s is not in the navigation: add it to nav of site/mkdocs.yml", page)
		}
	}
	if len(listed) > 0 {
		t.Errorf("site/mkdocs.yml: the navigation has pages that are not there: %s", listed)
	}
}

// nested finds items of inner lists that the site would show as text: Markdown of Python, unlike
// GitHub's, wants four spaces before them.
var nested = regexp.MustCompile(`(?m)^ {1,3}(?:[-*]|\d+\.) .*`)

var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

func TestInnerListsAreIndentedByFour(t *testing.T) {
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range nested.FindAllString(fenced.ReplaceAllString(string(text), ""), -1) {
			t.Errorf("%s: indent the inner list by four spaces: %s", page, line)
		}
	}
}

// link finds the relative links of a page, without their anchors, which the site checks.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)\s]*)?\)`)

func TestLinksLeadToFiles(t *testing.T) {
	for _, page := range append(documents(t), "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

// documents lists the Markdown files that the site shows.
func documents(t *testing.T) []string {
	t.Helper()
	list := []string{"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			list = append(list, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
