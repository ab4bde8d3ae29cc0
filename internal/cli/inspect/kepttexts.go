package inspect

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/records"
)

// maxIndexes bounds how many indexes of texts are in memory.
const maxIndexes = 8

// keptTexts builds the texts that sessions had from those that a log keeps, as the reader of a policy
// reads them.
type keptTexts struct {
	log     *records.Log
	indexes []*keptIndex // the one used last is the first
}

// keptIndex is the index of one log of texts under one policy.
type keptIndex struct {
	log, meaning string
	list         []flow.KeptText
	index        flow.Index
	views        []flow.View // by their number of texts
}

// view returns the texts of a session at a position. missing is why they are not known, "" if they are.
func (k *keptTexts) view(ctx context.Context, reader flow.Reader, at *stopgate.TextPosition) (v flow.View, missing string, err error) {
	if at == nil || at.Log == "" {
		return nil, noTexts, nil
	}
	meaning := reader.Meaning()
	i := slices.IndexFunc(k.indexes, func(x *keptIndex) bool { return x.log == at.Log && x.meaning == meaning })
	var x *keptIndex
	if i >= 0 {
		x = k.indexes[i]
		k.indexes = slices.Delete(k.indexes, i, i+1)
	}
	if x == nil || at.Number > uint64(len(x.list)) {
		if x, err = k.read(ctx, reader, at.Log); err != nil {
			return nil, "", err
		}
	}
	k.indexes = append([]*keptIndex{x}, k.indexes...)
	k.indexes = k.indexes[:min(len(k.indexes), maxIndexes)]
	if missing = x.missing(at.Number); missing != "" {
		return nil, missing, nil
	}
	return x.at(reader, at.Number)
}

func (k *keptTexts) read(ctx context.Context, reader flow.Reader, log string) (*keptIndex, error) {
	list, err := k.log.Texts(ctx, log)
	if err != nil {
		return nil, err
	}
	x := &keptIndex{log: log, meaning: reader.Meaning(), list: list, index: reader.NewIndex(make([]byte, 32))}
	x.views = append(x.views, x.index.View())
	return x, nil
}

// missing is why the first texts of a log are not all known, "" if they are.
func (x *keptIndex) missing(number uint64) string {
	if number > uint64(len(x.list)) || number > 0 && x.list[number-1].Number != number {
		return noTexts // numbers ascend from 1
	}
	if slices.ContainsFunc(x.list[:number], func(t flow.KeptText) bool { return t.Redacted }) {
		return lessTexts
	}
	return ""
}

// at returns the view after the first texts.
func (x *keptIndex) at(reader flow.Reader, number uint64) (v flow.View, missing string, err error) {
	for n := uint64(len(x.views)); n <= number; n++ {
		a, err := kept.Parse(x.list[n-1].Text)
		if err != nil {
			return nil, noTexts, nil // a newer version wrote it, or it was changed
		}
		a.Add(reader, x.index)
		x.views = append(x.views, x.index.View())
	}
	return x.views[number], "", nil
}

// dependsOnTexts reports whether the verdict of the rules on a call depends on the texts of its
// session: with nothing known of them a condition on an origin is evaluated, or what the person said
// and what was read changes the mode.
func dependsOnTexts(program *policy.Program, call stopgate.Call, args []byte) bool {
	var modes [2]stopgate.Mode
	for i := range modes {
		texts := &unknownTexts{best: i == 1}
		e := program.BindUnder(call, eval.Circumstances{Situation: program.Situation(call.Groups, noData, texts)}).EvaluateWith(texts)
		e.Feed(args)
		modes[i] = e.Close(stopgate.Ended).Mode
		if texts.asked {
			return true
		}
	}
	return modes[0] != modes[1]
}

// unknownTexts are texts of which nothing is known: at best the person said what permits, and nothing
// was read.
type unknownTexts struct{ best, asked bool }

func (t *unknownTexts) Find([]byte, *flow.Query) flow.Finding {
	t.asked = true
	return flow.Finding{Possible: true, Doubt: flow.Unreported}
}

func (t *unknownTexts) Carries(value []byte, q *flow.Query) flow.Finding { return t.Find(value, q) }
func (t *unknownTexts) Origin([]byte, flow.Kind) flow.Ref                { return flow.Ref{} }
func (t *unknownTexts) Said(string) bool                                 { return t.best }

func (t *unknownTexts) Read(*flow.Query, func(string) bool, bool) bool { return !t.best }
