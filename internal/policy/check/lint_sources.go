package check

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
)

// sources looks for sources that have more texts than they seem to, and for policies on texts that
// cost nearly every task.
func (c *checker) sources() {
	for _, s := range c.File.Sources {
		if s.Name == flow.User {
			continue
		}
		if s.Trusted {
			c.wholeText(s)
			c.trustedBy(s)
		}
		c.senders(s)
	}
	c.unusedSources()
	c.unfitUnless()
	for _, s := range c.File.Sessions {
		if s.Type == syntax.SessionFlow && !s.Asks && !s.Off && len(s.Unless)+len(s.Where) == 0 {
			c.Report(diag.DenyAfterText, s.Pos, "the policy denies after texts that nearly every task reads: most tasks end there",
				"write mode = \"ask\", or `unless` with conditions under which there is no objection")
		}
	}
}

// isWhole reports whether the texts of a source are complete results or items.
func isWhole(s *syntax.SourceTable) bool { return len(s.Field) == 0 && s.Label == "" }

// wholeText warns about trusted texts in which others may have written: a complete result, unless
// the operator names the one call that has it, and the free text of every item of a list.
func (c *checker) wholeText(s *syntax.SourceTable) {
	named := slices.ContainsFunc(s.Asked, func(k syntax.SourceCondition) bool { return k.Const != nil })
	switch {
	case named || len(s.Where) > 0 && !isWhole(s):
	case isWhole(s):
		c.Report(diag.WholeText, s.Pos, fmt.Sprintf("the source `%s` trusts complete results of %s, whoever wrote what is in them", s.Name, some(s.Tools)),
			"name the part that you trust: `field`, `label`, or `asked` with a constant")
	case s.Label == "" && !s.Keys && freeText[s.Field[len(s.Field)-1]]:
		c.Report(diag.WholeText, s.Pos, fmt.Sprintf("the source `%s` trusts every `%s` of %s, whoever wrote it", s.Name, s.Field, some(s.Tools)),
			"say whose: `items` with `where`")
	}
}

// freeText are names of members and parameters that hold texts of many words.
var freeText = map[string]bool{
	"body": true, "content": true, "contents": true, "text": true, "message": true, "messages": true, "description": true, "comment": true, "comments": true,
	"html": true, "markdown": true, "note": true, "notes": true, "review": true, "reviews": true, "summary": true, "subject": true, "title": true, "prompt": true,
	"snippet": true, "transcript": true, "answer": true, "reply": true,
}

// trustedBy warns about a trusted source whose conditions lean on texts that nobody trusts.
func (c *checker) trustedBy(s *syntax.SourceTable) {
	for _, k := range slices.Concat(s.Asked, s.Where) {
		for _, name := range k.From {
			table := c.File.SourceNamed(name)
			if name == flow.User || name == flow.System || table != nil && table.Trusted {
				continue
			}
			c.Report(diag.TrustedByUntrusted, k.Pos, fmt.Sprintf("the source `%s` is trusted where `%s` occurs in texts of `%s`, which is not", s.Name, k.Pointer, name),
				"name a source that is trusted")
		}
	}
}

// senders warns about items whose sender is compared by words: everybody can call himself like
// somebody whom the user named.
func (c *checker) senders(s *syntax.SourceTable) {
	for _, k := range s.Where {
		if len(k.From) > 0 && (k.Label != "" || k.As == "text") {
			c.Report(diag.SenderByWords, k.Pos, fmt.Sprintf("`%s` of the items of `%s` is compared by words, which a stranger can write, too", k.Pointer, s.Name),
				"compare the complete value, as an address, where the user writes it")
		}
	}
}

// unusedSources reports sources that no known tool fits, for example because of a misspelt name.
func (c *checker) unusedSources() {
	known, all := c.knownNames()
	if !all {
		return
	}
	for _, s := range c.File.Sources {
		if s.Name == flow.User || len(s.Tools) == 0 {
			continue
		}
		fits, effect := false, false
		for _, name := range known {
			if !slices.ContainsFunc(s.Tools, func(text string) bool { return selects(text, []string{name}) }) {
				continue
			}
			if c.hasEffect(name) {
				effect = true
			} else {
				fits = true
			}
		}
		switch {
		case fits:
		case effect:
			c.Report(diag.SourceWithoutTool, s.ToolPos, fmt.Sprintf("the tools of the source `%s` have an effect, and results of such tools are no source", s.Name),
				"name tools that only read")
		default:
			c.Report(diag.SourceWithoutTool, s.ToolPos, fmt.Sprintf("no tool that is known here has the source `%s`", s.Name),
				"see the names of the tables [tools.NAME]; `--tools FILE` tells check of others")
		}
	}
}

// unfitUnless reports conditions of `unless` and `where` on a parameter that none of the governed
// tools has.
func (c *checker) unfitUnless() {
	for _, s := range c.File.Sessions {
		c.unfit(s, s.Unless, "it always objects", ", or write arg = \"*\" for every value")
		c.unfit(s, s.Where, "it never objects", "")
	}
}

// unfit reports conditions of a session policy on a parameter that none of the governed tools has.
func (c *checker) unfit(s *syntax.SessionPolicy, conditions []syntax.Condition, so, or string) {
	for i := range conditions {
		k := &conditions[i]
		governed, fits := false, k.Every
		for _, t := range c.known {
			if !selectsTool(s, t) {
				continue
			}
			governed = true
			fits = fits || t.Schema == nil || t.Schema.Reach(k.Arg).Missing < 0
		}
		if governed && !fits {
			c.Report(diag.UnlessUnfit, k.Pos, fmt.Sprintf("no tool that the policy governs has `%s`: %s", k.Arg, so), "name a parameter of the tools"+or)
		}
	}
}

// selectsTool reports whether a flow policy governs a tool, as far as the file says it.
func selectsTool(s *syntax.SessionPolicy, t *bind.Tool) bool {
	return s.Effects && statesEffect(t.Tables) || slices.ContainsFunc(s.Before, func(name string) bool { return selects(name, []string{t.Name}) })
}

// hasEffect reports whether a table states that a tool has an effect.
func (c *checker) hasEffect(tool string) bool { return statesEffect(c.File.TablesFor(tool)) }

func statesEffect(tables []*syntax.ToolTable) bool {
	for _, t := range tables {
		if t.Effect != nil {
			return *t.Effect
		}
	}
	return false
}

// knownNames returns the names of all tools that the file and the definitions know; all is false if
// there may be others.
func (c *checker) knownNames() (known []string, all bool) {
	for _, t := range c.File.Tools {
		name, err := glob.ParseName(t.Name)
		if err != nil {
			return nil, false
		}
		if _, exact := name.LiteralPrefix(); !exact {
			return nil, false // the tools are not known
		}
		known = append(append(known, t.Name), t.Also...)
	}
	for _, d := range c.options.Definitions {
		known = append(known, string(d.Name))
	}
	return known, len(known) > 0
}

// sourceList writes sources for a message.
func sourceList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = tomltree.Quote(name)
	}
	return some(quoted)
}
