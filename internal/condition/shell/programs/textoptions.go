package programs

// TextOptions are options whose values are texts for people, or searched for in texts, and never
// name a file: "git commit -m", "gh pr create --body".
type TextOptions struct {
	Names  Words
	Letter byte // that may end a cluster, as in -am; 0 if none
}

var (
	commitTexts = TextOptions{Words{"-m", "--message", "--author", "--date", "--trailer"}, 'm'}
	logTexts    = TextOptions{Words{"--grep", "--author", "--committer", "--since", "--until", "--after", "--before", "--format", "--pretty", "--date"}, 0}
	reviewTexts = TextOptions{Words{"-t", "--title", "-b", "--body", "-l", "--label", "--notes", "--subject"}, 0}
	NoTexts     = TextOptions{}
)

// ValueTakers are options of the same commands whose value may look like one of textOptions.
var ValueTakers = Words{
	"-F", "--file", "-C", "--reuse-message", "-c", "--reedit-message", "-t", "--template", "--pathspec-from-file", "--fixup", "--squash", "--cleanup",
	"--body-file", "--author", "--date", "--trailer", "-m", "--message", "-b", "--body", "--title", "-l", "--label",
}
