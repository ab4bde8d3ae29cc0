package parser

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// The defaults of [judge].
const (
	judgeThreshold = 0.5
	judgeTimeout   = 10_000
	judgeCache     = 24 * 3_600_000
	judgeMaxBytes  = 128 << 10

	maxJudgeTimeout  = 60_000
	maxJudgeBytes    = 1 << 20
	maxJudgeGuidance = 4000 // characters
)

// judgeTable is the [judge] table as it is written.
type judgeTable struct {
	Tools     *tomltree.Value `toml:"tools"`
	Model     string          `toml:"model,required"`
	API       string          `toml:"api"`
	BaseURL   string          `toml:"base_url"`
	KeyEnv    string          `toml:"key_env"`
	KeyFile   string          `toml:"key_file"`
	Guidance  string          `toml:"guidance"`
	Threshold float64         `toml:"threshold"`
	Mode      stopgate.Mode   `toml:"mode"`
	OnError   stopgate.Mode   `toml:"on_error"`
	Observe   bool            `toml:"observe"`
	Explain   bool            `toml:"explain"`
	Timeout   *tomltree.Value `toml:"timeout"`
	Cache     *tomltree.Value `toml:"cache"`
	MaxBytes  int             `toml:"max_bytes"`
}

// judge reads [judge]. If its tool names have mistakes it governs every tool.
func (p *parser) judge(e *tomltree.Entry) {
	t := e.Value
	j := judgeTable{
		API: "openai", Threshold: judgeThreshold, Mode: stopgate.Deny, OnError: stopgate.Deny,
		MaxBytes: judgeMaxBytes,
	}
	p.decode(t, &j)
	p.oneOf(t, "on_error", []string{"deny", "ask"})
	p.oneOf(t, "mode", []string{"deny", "ask"})
	p.oneOf(t, "api", []string{"openai", "anthropic"})
	bad := func(key, message string) {
		if e := t.Get(key); e != nil {
			p.report(diag.BadValue, e.Value.Range, message, "")
		}
	}
	if j.Threshold < 0 || j.Threshold > 1 {
		bad("threshold", "`threshold` is a probability between 0 and 1")
	}
	if t.Get("model") != nil && j.Model == "" {
		bad("model", "`model` is empty")
	}
	timeout, cache := int64(judgeTimeout), int64(judgeCache)
	if e := t.Get("timeout"); e != nil {
		if timeout = p.duration(e); timeout > maxJudgeTimeout {
			bad("timeout", "`timeout` is at most 1m")
		}
	}
	if e := t.Get("cache"); e != nil && e.Value.Text == "0s" {
		cache = 0
	} else if e != nil {
		if cache = p.duration(e); cache > judgeCache {
			bad("cache", "`cache` is at most 24h")
		}
	}
	if j.MaxBytes <= 0 || j.MaxBytes > maxJudgeBytes {
		bad("max_bytes", "`max_bytes` is above zero and up to "+strconv.Itoa(maxJudgeBytes))
	}
	if utf8.RuneCountInString(j.Guidance) > maxJudgeGuidance {
		bad("guidance", fmt.Sprintf("`guidance` has at most %d characters", maxJudgeGuidance))
	}
	if j.KeyEnv != "" && j.KeyFile != "" {
		bad("key_file", "the key comes from `key_env` or from `key_file`, not from both")
	}
	names := p.texts(t.Get("tools"))
	for _, v := range names {
		p.toolName(v.Text, v.Range)
	}
	tools := textsOf(names)
	if len(tools) == 0 {
		tools = []string{syntax.EveryTool}
	}
	p.policy.Judge = &syntax.Judge{
		Tools: tools, Model: j.Model, API: j.API, BaseURL: j.BaseURL, KeyEnv: j.KeyEnv, KeyFile: j.KeyFile, Guidance: j.Guidance,
		Threshold: j.Threshold, Mode: j.Mode, OnError: j.OnError, Observe: j.Observe, Explain: j.Explain,
		Timeout: timeout, Cache: cache, MaxBytes: j.MaxBytes, File: p.policy.Name, Pos: t.Range,
	}
}
