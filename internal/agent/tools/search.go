package tools

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/jsonstream"
)

// Limits of a search.
const (
	maxListed  = 2000
	maxMatches = 300
	maxLine    = 300 // maximum characters of a line in the result
	maxSearch  = 2 << 20
)

// begin returns the start of a search.
func (s *view) begin(args jsonstream.Value) (string, error) {
	path, err := text(args, "path", false)
	if err != nil {
		return "", err
	}
	name, err := s.name(path, 0)
	if err != nil {
		return "", err
	}
	if !s.shows(filepath.ToSlash(name)) {
		return "", s.permitted(name, reads)
	}
	if _, err := s.root.Lstat(name); err != nil {
		return "", plain(path, err)
	}
	return filepath.ToSlash(name), nil
}

func (s *view) listFiles(ctx context.Context, args jsonstream.Value) (agent.Result, error) {
	from, err := s.begin(args)
	if err != nil {
		return agent.Result{}, err
	}
	depth, err := whole(args, "depth")
	if err != nil {
		return agent.Result{}, err
	}
	if depth == 0 {
		depth = 3
	}
	var b strings.Builder
	n, left := 0, 0
	err = fs.WalkDir(s.root.FS(), from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return context.Cause(ctx) // directories that cannot be read are skipped
		}
		if name == from && d.IsDir() {
			return nil
		}
		if !s.shows(name) {
			return skip(d)
		}
		if n == maxListed {
			left++
			return skip(d)
		}
		n++
		b.WriteString(name)
		if d.Type()&fs.ModeSymlink != 0 {
			b.WriteString("@")
		}
		if d.IsDir() {
			b.WriteString("/")
		}
		b.WriteString("\n")
		if d.IsDir() && (d.Name() == ".git" || levels(from, name) >= depth) {
			return fs.SkipDir
		}
		return nil
	})
	if left > 0 {
		fmt.Fprintf(&b, "[... more than %d files: list a directory of it ...]\n", maxListed)
	}
	if n == 0 {
		b.WriteString("(empty)\n")
	}
	return agent.Result{Text: b.String()}, err
}

// skip skips an entry.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// levels returns the depth of name below from.
func levels(from, name string) int {
	if from != "." {
		name = strings.TrimPrefix(name, from+"/")
	}
	return strings.Count(name, "/") + 1
}

func (s *view) grep(ctx context.Context, args jsonstream.Value) (agent.Result, error) {
	from, err := s.begin(args)
	if err != nil {
		return agent.Result{}, err
	}
	pattern, err := text(args, "pattern", true)
	if err != nil {
		return agent.Result{}, err
	}
	if fold, _ := args.Get("ignore_case"); fold.Kind() == jsonstream.True {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return agent.Result{}, fmt.Errorf("pattern: %w", err)
	}
	g := grepping{s: s, re: re}
	err = fs.WalkDir(s.root.FS(), from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if d.IsDir() && (d.Name() == ".git" || !s.shows(name)) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			g.file(name)
		}
		if g.matches >= maxMatches {
			return fs.SkipAll
		}
		return nil
	})
	return agent.Result{Text: g.end()}, err
}

// grepping is the state of one search.
type grepping struct {
	s       *view
	re      *regexp.Regexp
	out     strings.Builder
	matches int
	hidden  int // matching files that the policy does not allow to be read
	large   int
}

func (g *grepping) file(name string) {
	if !g.s.access.MayRead(name) || !g.s.o.Readable(name) {
		g.hidden++
		return
	}
	if info, err := g.s.root.Lstat(filepath.FromSlash(name)); err != nil || info.Size() > maxSearch {
		g.large++
		return
	}
	_, content, err := g.s.load(filepath.FromSlash(name), reads)
	if err != nil || strings.ContainsRune(content[:min(len(content), 8000)], 0) {
		return
	}
	for i, line := range strings.Split(content, "\n") {
		if !g.re.MatchString(line) {
			continue
		}
		if r := []rune(line); len(r) > maxLine {
			line = string(r[:maxLine]) + " ..."
		}
		fmt.Fprintf(&g.out, "%s:%d: %s\n", name, i+1, line)
		if g.matches++; g.matches == maxMatches {
			return
		}
	}
}

func (g *grepping) end() string {
	if g.matches == 0 {
		g.out.WriteString("nothing matches\n")
	}
	if g.matches >= maxMatches {
		fmt.Fprintf(&g.out, "[... stopped after %d matches ...]\n", maxMatches)
	}
	if g.hidden > 0 {
		fmt.Fprintf(&g.out, "[%d files were not searched: the policy does not let them be read]\n", g.hidden)
	}
	if g.large > 0 {
		fmt.Fprintf(&g.out, "[%d files were not searched: they are larger than %d bytes]\n", g.large, maxSearch)
	}
	return g.out.String()
}
