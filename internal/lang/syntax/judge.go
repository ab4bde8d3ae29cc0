package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Judge is the [judge] table of one file: a model that reviews the calls that every deterministic
// layer allows (V3-19, S29). Evaluations do not use it; enforcement points get the judges from
// policy.Program.
type Judge struct {
	Tools    []string // names and globs of the tools whose calls are reviewed
	Model    string
	API      string // "openai" or "anthropic"
	BaseURL  string // "" for the default address of the provider
	KeyEnv   string // environment variable with the key
	KeyFile  string // file with the key
	Guidance string // instructions that the operator adds
	// Threshold is the probability of harm, 0 to 1, from which on the judge objects.
	Threshold float64
	Mode      stopgate.Mode // the effect of an objection: Deny or Ask
	OnError   stopgate.Mode // the effect of a failure: Deny or Ask
	Observe   bool          // review in observe mode too (S31)
	Explain   bool          // show the explanation to the model and the user
	Timeout   int64         // milliseconds for the complete review with its retries
	Cache     int64         // milliseconds for which the answer to the same proposal is cached (S27)
	MaxBytes  int           // limit of the size of arguments; longer ones cannot be reviewed
	File      string
	Pos       diag.Range
}

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

// Governs reports whether calls of a tool are reviewed.
func (j *Judge) Governs(tool stopgate.ToolName) bool { return MatchesAny(j.Tools, string(tool)) }

// Meaning returns the keys that affect verdicts on one line. The endpoint and the credentials are
// not part of it.
func (j *Judge) Meaning() string {
	tools := slices.Clone(j.Tools)
	slices.Sort(tools)
	return fmt.Sprintf("%s model=%q guidance=%q threshold=%s mode=%s on_error=%s max_bytes=%d", strings.Join(tools, " "),
		j.Model, j.Guidance, strconv.FormatFloat(j.Threshold, 'g', -1, 64), j.Mode, j.OnError, j.MaxBytes)
}

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
		tools = []string{EveryTool}
	}
	p.policy.Judge = &Judge{
		Tools: tools, Model: j.Model, API: j.API, BaseURL: j.BaseURL, KeyEnv: j.KeyEnv, KeyFile: j.KeyFile, Guidance: j.Guidance,
		Threshold: j.Threshold, Mode: j.Mode, OnError: j.OnError, Observe: j.Observe, Explain: j.Explain,
		Timeout: timeout, Cache: cache, MaxBytes: j.MaxBytes, File: p.policy.Name, Pos: t.Range,
	}
}
