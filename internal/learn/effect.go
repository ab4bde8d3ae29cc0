package learn

import (
	"slices"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// effect is what a tool does, as far as generalisation depends on it. The zero effect is the strictest.
type effect uint8

const (
	acts   effect = iota // on others, or what it destroys does not come back, or nothing is known: learned exactly
	writes               // changes files or the work at hand
	looks                // shows something
)

// verbs are words of tool names, which people chose to say what the tool does. A name is not proof: it only
// selects how far approvals of a person reach. A word that is in no list permits nothing.
var verbs = map[effect][]string{
	acts: strings.Fields(`add answer approve assign authorize award ban block book buy call cancel charge click comment commit connect delete deploy
		destroy disable discard donate drop email enable erase exec execute fork forward fund grant install invite invoke kill login
		logout mail merge message notify order pay post publish purchase purge push refund reject release remove reply reserve reset
		restart restore revoke rm run sell send share shell shutdown sign star start stop submit subscribe sync terminate transfer
		trash trigger truncate unlink unstar upload verify wipe withdraw`),
	writes: strings.Fields(`apply append copy create edit format insert make mkdir modify move patch rename replace save touch update write`),
	looks: strings.Fields(`analyze browse check compare count cat describe diff explain fetch find get glob grep help inspect info lint list look lookup
		ls open outline preview print query read resolve search show stat stats status summarize tail test tree validate view`),
}

// effectOf returns the effect of a tool: that of the known tools of its name, else that of the words of its
// name. The strictest counts.
func effectOf(tool stopgate.ToolName) effect {
	found, known := looks, false
	for _, row := range knowntools.ByName(string(tool)) {
		found, known = min(found, classes[row.Class]), true
	}
	for _, word := range wordsOf(string(tool)) {
		for e, list := range verbs {
			if !known && slices.Contains(list, word) {
				found = min(found, e)
			}
		}
	}
	if !known && !slices.ContainsFunc(wordsOf(string(tool)), isVerb) {
		return acts
	}
	return found
}

// classes are the effects of known tools; those of other classes act.
var classes = map[knowntools.Class]effect{
	knowntools.Read: looks, knowntools.Search: looks, knowntools.Fetch: looks, knowntools.Note: looks, knowntools.Write: writes,
}

func isVerb(word string) bool {
	for _, list := range verbs {
		if slices.Contains(list, word) {
			return true
		}
	}
	return false
}

// wordsOf cuts a name like "fs_readFile" into words in lower case.
func wordsOf(name string) (words []string) {
	word := ""
	flush := func() {
		if word != "" {
			words = append(words, strings.ToLower(word))
		}
		word = ""
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			flush()
			continue
		case unicode.IsUpper(r) && word != strings.ToUpper(word):
			flush()
		}
		word += string(r)
	}
	flush()
	return words
}
