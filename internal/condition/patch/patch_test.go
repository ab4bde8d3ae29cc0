package patch_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/patch"
)

const agents = "*** Begin Patch\n"

// Proves S40: Files returns the files of patches in both languages, and rejects everything else.
func TestFiles(t *testing.T) {
	for text, want := range map[string]string{
		agents + "*** Add File: a.go\n+package a\n*** End Patch":                                        "a.go",
		agents + "*** Update File: src/a b.go\n@@ func x\n-a\n+b\n c\n*** End of File\n*** End Patch":   "src/a b.go",
		agents + "*** Update File: a\n*** Move to: .env\n@@\n-x\n+y\n*** End Patch\n\n":                 "a .env",
		"\n" + agents + "*** Delete File: a\n*** Delete File: b\n*** Delete File: a\n*** End Patch\r\n": "a b",
		agents + "  *** Delete File: a\n*** End Patch":                                                  "a",
		agents + "*** End Patch":                            "",
		agents + "*** Delete File: a\n":                     "",
		agents + "*** Delete File:\n*** End Patch":          "",
		agents + "*** Rename File: a\n*** End Patch":        "",
		agents + "+x\n*** End Patch":                        "",
		agents + "*** Delete File: a\nx\n*** End Patch":     "",
		agents + "*** Delete File: a\x00b\n*** End Patch":   "",
		agents + "*** Delete File: a\u2028b\n*** End Patch": "",

		"--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@ func\n a\n-b\n+c\n":                                                                 "x.go",
		"--- x.go\t2020-01-01\n+++ x.go\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n":                            "x.go",
		"--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+SECRET=1\n":                                                                      ".env",
		"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a":                                                                                  "x",
		"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\nold mode 1\nnew mode 2\n": "x y",
		"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n":                                                    "x y",
		"diff --git a/x y b/x y\nnew file mode 100644\nindex 0..1\n":                                                                 "x y",
		// A removed line that looks like a header belongs to its hunk.
		"--- a/x\n+++ b/x\n@@ -1,3 +1,1 @@\n a\n--- b\n--- c\n": "x",
		"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n\n":             "x",
		// Texts in which another parser may find other files.
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n":  "",
		"--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b\n":         "",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nIndex: y\n": "",
		"--- a/x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n":             "",
		"--- \"a/x\"\n+++ \"b/x\"\n@@ -1 +1 @@\n-a\n+b\n":   "",
		"diff --git a/x b/c b/y\n":                          "",
		"*** a/x\n--- b/x\n***************\n":               "",
		"@@ -1 +1 @@\n-a\n+b\n":                             "",
		"--- a/x\n+++ b/x\n@@ -1 @@\n-a\n":                  "",
		"--- a/x\n+++ b/x\n@@ -x +1 @@\n-a\n":               "",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n?b\n":           "",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n":           "",
		"GIT binary patch\n":                                "",
		"--- a/\n+++ b/\n@@ -1 +1 @@\n-a\n+b\n":             "",
		"rm -rf x":                                          "",
		"":                                                  "",
		"--- a/x\xff\n+++ b/x\n":                            "",
		strings.Repeat("\n", patch.MaxBytes+1):              "",
	} {
		files, ok := patch.Files(text)
		if got := strings.Join(files, " "); got != want || ok != (want != "") {
			t.Errorf("%.200q: %q %v, want %q", text, got, ok, want)
		}
	}
}

// FuzzFiles checks that no file that a careless parser finds is missing.
func FuzzFiles(f *testing.F) {
	f.Add(agents + "*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n x\n*** End Patch\n")
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n b\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, ok := patch.Files(text)
		if !ok {
			if files != nil {
				t.Fatal("files of what is no patch")
			}
			return
		}
		found := map[string]bool{}
		for _, name := range files {
			found[name] = true
		}
		for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
			for _, prefix := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "rename to ", "rename from "} {
				if name, is := strings.CutPrefix(line, prefix); is && strings.HasPrefix(text, line[:3]) && !found[strings.TrimSpace(name)] {
					t.Fatalf("%q is overlooked", name)
				}
			}
		}
	})
}
