package judge

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy/syntax"
)

// judge is one table [judge] at work.
type judge struct {
	bench    *Bench
	table    *syntax.Judge
	dialect  *dialect
	endpoint string
	address  string // of the endpoint, HOST:PORT
	key      string
	prompt   prompt
}

var _ gate.Judge = (*judge)(nil)

func newJudge(b *Bench, t *syntax.Judge, d *dialect, endpoint *url.URL, key string) *judge {
	return &judge{bench: b, table: t, dialect: d, endpoint: endpoint.String(), address: endpoint.Host, key: key, prompt: newPrompt(t.Guidance)}
}

// Judge implements [gate.Judge]. It returns when there is an answer, or when the time
// of the table is over. An error is a *gate.JudgeError, and nothing of the provider's
// own words is in it.
func (j *judge) Judge(ctx context.Context, prop gate.Proposal) (gate.Opinion, error) {
	began := time.Now()
	threshold := j.table.Threshold
	review := stopgate.Review{Model: j.table.Model, Prompt: j.prompt.hash, Threshold: &threshold, API: j.table.API, Address: j.address}
	fail := func(err error) (gate.Opinion, error) {
		review.Fault, review.Millis = word(err), time.Since(began).Milliseconds()
		return gate.Opinion{}, &gate.JudgeError{Review: review, Err: err}
	}
	var text string
	text, review.Input = input(&prop)
	if len(prop.Args) > j.table.MaxBytes || len(text) > 8*j.table.MaxBytes+maxDescription {
		// A part of the arguments is no call to judge (THREATS H13).
		return fail(errTooLong)
	}
	key := cacheKey{
		input: review.Input, definition: prop.Definition, args: prop.ArgsHash,
		model: j.table.Model, endpoint: j.endpoint, prompt: j.prompt.hash,
	}
	keep := time.Duration(j.table.Cache) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, time.Duration(j.table.Timeout)*time.Millisecond)
	defer cancel()
	said, cached := j.recall(ctx, key, keep)
	if !cached {
		var err error
		if said, review.Attempts, err = j.ask(ctx, text); err != nil {
			return fail(err)
		}
		said.explanation = describe(said.explanation, prop.Args)
		j.remember(ctx, key, said, keep)
	}
	review.Cached, review.Explanation, review.Millis = cached, said.explanation, time.Since(began).Milliseconds()
	o := gate.Opinion{Mode: stopgate.Unattended, Probability: said.probability, Review: review}
	if said.probability >= threshold {
		o.Mode = j.table.Mode
		if j.table.Explain && said.explanation != "" {
			o.Public = "A safety review did not accept this call: " + said.explanation
		}
	}
	return o, nil
}

// maxDescription bounds what a request may say about its tool.
const maxDescription = 64 << 10

// Why there is no answer. Rows hold these words (THREATS H17).
var (
	errTooLong     = errors.New("arguments too long")
	errConnection  = errors.New("connection failed")
	errTimeout     = errors.New("timeout")
	errNoAnswer    = errors.New("no answer in the form")
	errRefused     = errors.New("model refused")
	errCut         = errors.New("answer cut")
	errLongAnswer  = errors.New("answer too long")
	errContentType = errors.New("answer is not JSON")
)

func word(err error) string {
	var s statusError
	for _, known := range []error{errTooLong, errConnection, errTimeout, errNoAnswer, errRefused, errCut, errLongAnswer, errContentType} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.As(err, &s) {
		return s.Error()
	}
	return "error"
}
