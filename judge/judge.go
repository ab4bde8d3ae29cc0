package judge

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// judge implements one [judge] table.
type judge struct {
	factory  *Factory
	table    *gate.JudgeTable
	dialect  *dialect
	endpoint string
	address  string // HOST:PORT of the endpoint
	key      string
	prompt   prompt
}

var _ gate.Judge = (*judge)(nil)

func newJudge(b *Factory, t *gate.JudgeTable, d *dialect, endpoint *url.URL, key string) *judge {
	return &judge{factory: b, table: t, dialect: d, endpoint: endpoint.String(), address: endpoint.Host, key: key, prompt: newPrompt(t.Guidance)}
}

// Judge implements [gate.Judge]. It returns at the latest when the timeout of the table has passed.
// Errors are of type *gate.JudgeError and contain no text of the provider.
func (j *judge) Judge(ctx context.Context, prop gate.Proposal) (gate.Opinion, error) {
	began := time.Now()
	threshold := j.table.Threshold
	review := stopgate.Review{Model: j.table.Model, Prompt: j.prompt.hash, Threshold: &threshold, API: j.table.API, Address: j.address}
	fail := func(err error) (gate.Opinion, error) {
		review.Fault, review.Millis = errorText(err), time.Since(began).Milliseconds()
		return gate.Opinion{}, &gate.JudgeError{Review: review, Err: err}
	}
	var text string
	text, review.Input = input(&prop)
	if len(prop.Args) > j.table.MaxBytes || len(text) > 8*j.table.MaxBytes+maxDescription {
		// Part of the arguments is not enough to judge a call (H13).
		return fail(errTooLong)
	}
	key := cacheKey{
		input: review.Input, definition: prop.Definition, args: prop.ArgsHash,
		model: j.table.Model, endpoint: j.endpoint, prompt: j.prompt.hash,
	}
	keep := time.Duration(j.table.Cache) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, time.Duration(j.table.Timeout)*time.Millisecond)
	defer cancel()
	answer, cached := j.lookup(ctx, key, keep)
	if !cached {
		var err error
		if answer, review.Attempts, err = j.ask(ctx, text); err != nil {
			return fail(err)
		}
		answer.explanation = describe(answer.explanation, prop.Args)
		j.save(ctx, key, answer, keep)
	}
	review.Cached, review.Explanation, review.Millis = cached, answer.explanation, time.Since(began).Milliseconds()
	o := gate.Opinion{Mode: stopgate.Unattended, Probability: answer.probability, Review: review}
	if answer.probability >= threshold {
		o.Mode = j.table.Mode
		if j.table.Explain && answer.explanation != "" {
			o.Public = "A safety review did not accept this call: " + answer.explanation
		}
	}
	return o, nil
}

// maxDescription limits the size of a tool's description in the request.
const maxDescription = 64 << 10

// Failures of a judge. Audit rows contain these texts (H17).
var (
	errTooLong      = errors.New("arguments too long")
	errConnection   = errors.New("connection failed")
	errTimeout      = errors.New("timeout")
	errForm         = errors.New("no answer in the form")
	errRefused      = errors.New("model refused")
	errTruncated    = errors.New("answer cut")
	errLongResponse = errors.New("answer too long")
	errContentType  = errors.New("answer is not JSON")
)

func errorText(err error) string {
	var s statusError
	for _, known := range []error{errTooLong, errConnection, errTimeout, errForm, errRefused, errTruncated, errLongResponse, errContentType} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.As(err, &s) {
		return s.Error()
	}
	return "error"
}
