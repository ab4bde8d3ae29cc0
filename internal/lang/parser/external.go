package parser

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// The default and the limit of `timeout` of [[external]].
const (
	externalTimeout    = 1_000
	maxExternalTimeout = 30_000
)

// externalTable is a table [[external]] as it is written.
type externalTable struct {
	Name      string          `toml:"name,required"`
	URL       string          `toml:"url,required"`
	Hooks     *tomltree.Value `toml:"hooks,required"`
	Tools     *tomltree.Value `toml:"tools"`
	Timeout   *tomltree.Value `toml:"timeout"`
	TokenEnv  string          `toml:"token_env"`
	TokenFile string          `toml:"token_file"`
	OnError   stopgate.Mode   `toml:"on_error"`
}

// external reads one table [[external]]. If its tool names have mistakes it governs every tool.
func (p *parser) external(t *tomltree.Value) {
	w := externalTable{OnError: stopgate.Deny}
	p.decode(t, &w)
	p.oneOf(t, "on_error", []string{"deny", "ask"})
	bad := func(key, message, hint string) {
		if e := t.Get(key); e != nil {
			p.report(diag.BadValue, e.Value.Range, message, hint)
		}
	}
	x := &syntax.External{
		Name: w.Name, URL: w.URL, TokenEnv: w.TokenEnv, TokenFile: w.TokenFile, Timeout: externalTimeout, OnError: w.OnError, File: p.policy.Name, Pos: t.Range,
	}
	if t.Get("name") != nil && !validExternalName(x.Name) {
		bad("name", "`name` has 1 to 64 characters of a-z 0-9 _ and -", "")
	}
	for _, other := range p.policy.Externals {
		if other.Name == x.Name && x.Name != "" {
			bad("name", "another [[external]] has this name", "")
		}
	}
	_, socket, err := syntax.ExternalURL(x.URL)
	if err != nil && t.Get("url") != nil {
		bad("url", "`url` cannot be "+tomltree.Quote(x.URL), err.Error())
	}
	if socket != "" && x.TokenEnv+x.TokenFile != "" {
		bad("token_env", "a socket needs no token", "the gate checks who serves it")
		bad("token_file", "a socket needs no token", "the gate checks who serves it")
	}
	if x.TokenEnv != "" && x.TokenFile != "" {
		bad("token_file", "the token comes from `token_env` or from `token_file`, not from both", "")
	}
	if e := t.Get("timeout"); e != nil {
		if x.Timeout = p.duration(e); x.Timeout > maxExternalTimeout {
			bad("timeout", "`timeout` is at most 30s", "")
		}
	}
	x.Hooks = p.hooks(t.Get("hooks"))
	if !x.Has(syntax.HookJudge) {
		bad("on_error", "`on_error` is for the hook `judge`: a failure of the others denies", "")
	}
	x.Tools = p.toolNames(t.Get("tools"))
	if len(x.Tools) == 0 {
		x.Tools = []string{syntax.EveryTool}
	}
	p.policy.Externals = append(p.policy.Externals, x)
}

// hooks reads the hooks of an external policy, in the order of [syntax.ExternalHooks].
func (p *parser) hooks(e *tomltree.Entry) []string {
	known := syntax.ExternalHooks()
	values := p.texts(e)
	for _, v := range values {
		if !slices.Contains(known, v.Text) {
			p.report(diag.BadValue, v.Range, "no hook has the name "+tomltree.Quote(v.Text), diag.DidYouMean(v.Text, known))
		}
	}
	named := textsOf(values)
	return slices.DeleteFunc(known, func(hook string) bool { return !slices.Contains(named, hook) })
}

func validExternalName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
