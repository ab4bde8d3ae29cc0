package effect

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// textOptionsOf returns the options of a command that only take texts.
func textOptionsOf(program string, words []shell.Word) *programs.TextOptions {
	if program != "git" && program != "gh" || len(words) < 3 {
		return &programs.NoTexts
	}
	name := program + "-" + string(words[1].Text)
	if program == "gh" {
		name += "-" + string(words[2].Text)
	}
	if texts := programs.Of(name).Texts; texts != nil {
		return texts
	}
	return &programs.NoTexts
}

// textValue reports whether the word at k is such a text, or an option with one.
func textValue(o *programs.TextOptions, words []shell.Word, k int) bool {
	if o.Names == nil || k < 2 {
		return false
	}
	if option, _, ok := bytes.Cut(words[k].Text, []byte("=")); ok && len(option) > 2 && o.Names.Has(string(option)) {
		return !taken(o, words, k)
	}
	option := words[k-1].Text
	named := o.Names.Has(string(option)) ||
		o.Letter != 0 && len(option) > 2 && option[0] == '-' && option[1] != '-' && bytes.IndexByte(option, o.Letter) == len(option)-1 && !bytes.ContainsAny(option, "FCct")
	return named && !taken(o, words, k-1)
}

// taken reports whether the option at k may itself be the value of the option before it.
func taken(o *programs.TextOptions, words []shell.Word, k int) bool {
	before := words[k-1].Text
	return programs.ValueTakers.Has(string(before)) || k > 2 && string(before) == "--"
}
