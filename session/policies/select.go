package policies

import (
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/session"
)

// Select returns the selector of tool names and globs over names: "*" is any run of characters,
// "?" one, "[a-z]" one of these, "{a,b}" either, and "\x" the character x. Its Err returns the errors.
func Select(tools ...string) session.Selector {
	var all session.Selector
	for _, text := range tools {
		all = all.Or(selectOne(text))
	}
	return all
}

func selectOne(text string) session.Selector {
	if text == "" {
		return session.Select(text)
	}
	name, err := glob.ParseName(text)
	if err != nil {
		return session.SelectMatch(text, nil, fmt.Errorf("tool %q: %w", text, err))
	}
	if literal, exact := name.LiteralPrefix(); exact && literal == text {
		return session.Select(text)
	}
	return session.SelectMatch(text, func(tool stopgate.ToolName) bool { return name.Match(string(tool)) }, nil)
}
