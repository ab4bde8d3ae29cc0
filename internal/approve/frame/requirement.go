package frame

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/visible"
)

// requirement returns sentences on who may answer, and how many have to approve.
func requirement(e approve.Entry) (sentences []string) {
	if e.Requirement.Approvals > 1 {
		text := fmt.Sprintf("%d persons have to approve it, %d more", e.Requirement.Approvals, e.Wanting())
		if e.State != approve.Waiting {
			text = fmt.Sprintf("%d persons had to approve it", e.Requirement.Approvals)
		}
		for i, c := range e.Consents {
			text += [...]string{"; approved by ", " and "}[min(i, 1)] + visible.Elide(visible.Text(c.By), maxName)
		}
		sentences = append(sentences, text)
		if e.State == approve.Waiting && e.Edit != "" {
			sentences = append(sentences, "the approval is for changed arguments: "+visible.Elide(visible.Text(e.Edit), maxTarget))
		}
	}
	var who []string
	for _, p := range e.Requirement.Who {
		for _, name := range p.Principal {
			who = append(who, visible.Elide(visible.Text(name), maxName))
		}
		for _, name := range p.Group {
			who = append(who, "the group "+visible.Elide(visible.Text(name), maxName))
		}
	}
	if len(who) > 0 {
		sentences = append(sentences, "to be answered by "+strings.Join(who, " or "))
	}
	return sentences
}
