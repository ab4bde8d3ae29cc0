package site_test

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// built is the directory of the site. Without one the test is skipped: it is built by other tools.
func built(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("STOPGATE_SITE")
	if dir == "" {
		t.Skip("STOPGATE_SITE names no site; make -C site test builds one")
	}
	return dir
}

// document is a page of the site.
type document struct {
	ids   map[string]bool
	links []link
}

// link is a reference of a page. The browser loads it without being asked, or a reader follows it.
type link struct {
	to     string
	loaded bool
}

// Every link of every page leads to a file of the site and to an anchor in it. What pages load
// comes from the site.
func TestLinks(t *testing.T) {
	root := built(t)
	files := map[string]*document{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(at)] = nil
		if strings.HasSuffix(name, ".html") {
			files[filepath.ToSlash(at)] = read(t, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for name, page := range files {
		if page == nil {
			continue
		}
		pages++
		for _, l := range page.links {
			if path.Base(name) == "404.html" { // shown at any address
				continue
			}
			follow(t, files, name, l)
		}
	}
	if pages < 100 { // 60 pages, in this version and in the latest
		t.Errorf("the site has %d pages", pages)
	}
}

// follow checks one link of the page name.
func follow(t *testing.T, files map[string]*document, name string, l link) {
	t.Helper()
	u, err := url.Parse(l.to)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if u.Scheme == "data" {
		return
	}
	if u.Host != "" || u.Scheme != "" {
		if l.loaded {
			t.Errorf("%s loads %s from another host", name, l.to)
		} else if u.Scheme != "https" {
			t.Errorf("%s links to %s: not HTTPS", name, l.to)
		}
		return
	}
	target := name
	if u.Path != "" {
		if target = path.Join(path.Dir(name), u.Path); strings.HasSuffix(u.Path, "/") || u.Path == "." || u.Path == ".." {
			target = path.Join(target, "index.html")
		}
	}
	page, ok := files[target]
	if !ok {
		if _, ok = files[path.Join(target, "index.html")]; !ok {
			t.Errorf("%s links to %s, which is not there", name, l.to)
		}
		return
	}
	if u.Fragment != "" && (page == nil || !page.ids[u.Fragment]) {
		t.Errorf("%s links to %s, which has no such anchor", name, l.to)
	}
}

// read parses a page.
func read(t *testing.T, name string) *document {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	root, err := html.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	page := &document{ids: map[string]bool{}}
	for n := range root.Descendants() {
		has := map[string]string{}
		for _, a := range n.Attr {
			has[a.Key] = a.Val
		}
		if has["id"] != "" {
			page.ids[has["id"]] = true
		}
		if src, ok := has["src"]; ok {
			page.links = append(page.links, link{src, true})
		}
		href, ok := has["href"]
		switch {
		case !ok, n.Data == "link" && has["rel"] == "canonical": // for search engines, browsers do not load it
		case n.Data == "a":
			page.links = append(page.links, link{href, false})
		default:
			page.links = append(page.links, link{href, true})
		}
	}
	return page
}

var addresses = regexp.MustCompile(`(?i)(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]+)`)

// Style sheets load fonts and images from the site only.
func TestStyleSheets(t *testing.T) {
	root := built(t)
	sheets := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".css") && !strings.HasSuffix(name, ".svg") {
			return err
		}
		sheets++
		text, err := os.ReadFile(name)
		if m := addresses.FindSubmatch(text); m != nil {
			t.Errorf("%s loads %s", name, m[1])
		}
		return err
	})
	if err != nil || sheets == 0 {
		t.Errorf("%d style sheets and images: %v", sheets, err)
	}
}
