package gemini

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// readInfo reads the metadata of a response. Later counters replace earlier ones: they are
// cumulative.
func (a *answer) readInfo(c *chunk) {
	info := &a.notes.Response
	id, _ := c.root.Get("responseId")
	model, _ := c.root.Get("modelVersion")
	info.ReadNames(id, model)
	a.head = a.head[:0]
	for _, name := range [...]string{"modelVersion", "responseId"} {
		if v, ok := c.root.Get(name); ok {
			a.head = append(append(append(append(a.head, `,"`...), name...), `":`...), v.Raw()...)
		}
	}
	if c.usage.Kind() != jsonstream.Object {
		return
	}
	a.usage = append(a.usage[:0], c.usage.Raw()...)
	count := func(name string) int64 {
		v, _ := c.usage.Get(name)
		d, _ := v.Decimal()
		n, _ := d.Int64()
		return max(n, 0)
	}
	thoughts := count("thoughtsTokenCount")
	info.Tokens = provider.Tokens{
		Known: true, Input: count("promptTokenCount") + count("toolUsePromptTokenCount"), Output: count("candidatesTokenCount") + thoughts,
		CacheRead: count("cachedContentTokenCount"), Reasoning: thoughts,
	}
}

// appendUsage appends the counters of a response whose upstream was cancelled: the last ones from
// the provider, or estimates.
func (a *answer) appendUsage(dst []byte) []byte {
	if !a.notes.UsageEstimated && len(a.usage) > 0 {
		return append(dst, a.usage...)
	}
	t := a.notes.Response.Tokens
	dst = strconv.AppendInt(append(dst, `{"promptTokenCount":`...), t.Input, 10)
	dst = strconv.AppendInt(append(dst, `,"candidatesTokenCount":`...), t.Output, 10)
	dst = strconv.AppendInt(append(dst, `,"totalTokenCount":`...), t.Input+t.Output, 10)
	return append(dst, '}')
}
