package naive

import "strings"

// patches are texts of patches and the files that each names. They are listed, not
// parsed, so that the list shares no mistake with a parser; what is not in it is none.
var patches = map[string][]string{
	begin + "*** Delete File: src/a\n" + end:                                                  {"src/a"},
	begin + "*** Update File: src/a/b\n@@\n-x\n+y\n" + end:                                    {"src/a/b"},
	begin + "*** Add File: src/a\n+.env\n*** Delete File: .env\n" + end:                       {"src/a", ".env"},
	begin + "*** Update File: src/a\n*** Move to: lib/.git/hooks/x\n@@\n-x\n+y\n" + end:       {"src/a", "lib/.git/hooks/x"},
	begin + "*** Delete File: src/./a\n" + end:                                                {"src/./a"},
	begin + "*** Delete File: /srv/proj/src/a\n" + end:                                        {"/srv/proj/src/a"},
	"--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-x\n+y\n":                                         {"src/a"},
	"--- src/a\n+++ src/a\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ .env\n@@ -0,0 +1 @@\n+y\n": {"src/a", ".env"},
}

const (
	begin = "*** Begin Patch\n"
	end   = "*** End Patch"
)

// Patches lists the texts that are patches.
func Patches() (texts []string) {
	for text := range patches {
		texts = append(texts, text)
	}
	return texts
}

// matchesPatch judges the files of a patch: suspicion needs one of them, certainty all,
// and their names in canonical form.
func (p *Policy) matchesPatch(c *Cond, text string, permissive bool) bool {
	files, ok := patches[text]
	for _, f := range files {
		hit := false
		for _, literal := range c.Values {
			hit = hit || p.matchesPath(c.Kind, literal.Text, f, permissive)
		}
		if permissive && strings.Contains(f, "/./") {
			hit = false
		}
		if hit != permissive {
			return !permissive
		}
	}
	return ok && permissive
}
