package shell

import "bytes"

// textOptions are options whose values are texts for people, or searched for in texts, and never
// name a file: "git commit -m", "gh pr create --body".
type textOptions struct {
	names  words
	letter byte // that may end a cluster, as in -am; 0 if none
}

var (
	commitTexts = textOptions{words{"-m", "--message", "--author", "--date", "--trailer"}, 'm'}
	logTexts    = textOptions{words{"--grep", "--author", "--committer", "--since", "--until", "--after", "--before", "--format", "--pretty", "--date"}, 0}
	reviewTexts = textOptions{words{"-t", "--title", "-b", "--body", "-l", "--label", "--notes", "--subject"}, 0}
	noTexts     = textOptions{}
)

// valueTakers are options of the same commands whose value may look like one of textOptions.
var valueTakers = words{
	"-F", "--file", "-C", "--reuse-message", "-c", "--reedit-message", "-t", "--template", "--pathspec-from-file", "--fixup", "--squash", "--cleanup",
	"--body-file", "--author", "--date", "--trailer", "-m", "--message", "-b", "--body", "--title", "-l", "--label",
}

// textOptionsOf returns the options of a command that only take texts.
func textOptionsOf(program string, words []Word) *textOptions {
	if program != "git" && program != "gh" || len(words) < 3 {
		return &noTexts
	}
	name := program + "-" + string(words[1].Text)
	if program == "gh" {
		name += "-" + string(words[2].Text)
	}
	if texts := programOf(name).texts; texts != nil {
		return texts
	}
	return &noTexts
}

// value reports whether the word at k is such a text, or an option with one.
func (o *textOptions) value(words []Word, k int) bool {
	if o.names == nil || k < 2 {
		return false
	}
	if option, _, ok := bytes.Cut(words[k].Text, []byte("=")); ok && len(option) > 2 && o.names.has(string(option)) {
		return !o.taken(words, k)
	}
	option := words[k-1].Text
	named := o.names.has(string(option)) ||
		o.letter != 0 && len(option) > 2 && option[0] == '-' && option[1] != '-' && bytes.IndexByte(option, o.letter) == len(option)-1 && !bytes.ContainsAny(option, "FCct")
	return named && !o.taken(words, k-1)
}

// taken reports whether the option at k may itself be the value of the option before it.
func (o *textOptions) taken(words []Word, k int) bool {
	before := words[k-1].Text
	return valueTakers.has(string(before)) || k > 2 && string(before) == "--"
}
