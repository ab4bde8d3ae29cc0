package eval_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/eval"
)

// said is a text of a fake session: words between blanks.
type said struct {
	source flow.Source
	tool   stopgate.ToolName
	words  string
	// declared are its further sources.
	declared []flow.Source
}

// fakeView is a view that finds whole words: a value occurs in a text if its words do, in a row;
// in other case it possibly does.
type fakeView struct {
	texts []said
	doubt flow.Doubt // of every query
	match map[string]bool
	read  bool
	panic bool
}

var _ flow.View = (*fakeView)(nil)

func (v *fakeView) of(t *said, sources, trusted []flow.Source) bool {
	has := append([]flow.Source{t.source}, t.declared...)
	return slices.ContainsFunc(sources, func(s flow.Source) bool {
		if s == flow.Untrusted {
			return t.source == flow.Tool && !slices.ContainsFunc(has, func(h flow.Source) bool { return slices.Contains(trusted, h) })
		}
		return slices.Contains(has, s)
	})
}

func (v *fakeView) Find(value []byte, q *flow.Query) (f flow.Finding) {
	if v.panic {
		panic("view")
	}
	weak := len(value) < 3 && !q.Weak
	for i := range v.texts {
		t := &v.texts[i]
		if weak || !v.of(t, q.Sources, q.Trusted) {
			continue
		}
		has := occurs(t.words, string(value))
		if !has && !occurs(strings.ToLower(t.words), strings.ToLower(string(value))) {
			continue
		}
		if f.Possible = true; f.First.Number == 0 {
			f.First = v.ref(i)
		}
		if has {
			f.Certain = true
			f.Texts = append(f.Texts, i+1)
		}
	}
	f.Doubt = v.doubt
	f.Possible = f.Possible || f.Doubt != 0
	return f
}

func (v *fakeView) ref(i int) flow.Ref {
	t := &v.texts[i]
	r := flow.Ref{Number: i + 1, Source: t.source, Tool: t.tool}
	if len(t.declared) > 0 {
		r.Source = t.declared[0]
	}
	if t.tool != "" {
		r.Call = stopgate.CallID("call_" + string(t.tool))
	}
	return r
}

func occurs(text, value string) bool {
	return strings.Contains(" "+text+" ", " "+value+" ")
}

func (v *fakeView) Carries(value []byte, q *flow.Query) (f flow.Finding) {
	for i := range v.texts {
		if !v.of(&v.texts[i], q.Sources, q.Trusted) {
			continue
		}
		words := strings.Fields(v.texts[i].words)
		for n := 0; n+q.Tokens <= len(words); n++ {
			if bytes.Contains(value, []byte(strings.Join(words[n:n+q.Tokens], " "))) {
				f.Certain, f.Possible, f.First = true, true, v.ref(i)
				return f
			}
		}
	}
	f.Doubt = v.doubt
	f.Possible = v.doubt != 0
	return f
}

func (v *fakeView) Origin(value []byte, _ flow.Kind) flow.Ref {
	for i := range v.texts {
		if occurs(v.texts[i].words, string(value)) {
			return v.ref(i)
		}
	}
	return flow.Ref{}
}

func (v *fakeView) Said(key string) bool { return v.match[key] }

func (v *fakeView) Read(q *flow.Query, tool func(string) bool, _ bool) bool {
	return v.read || slices.ContainsFunc(v.texts, func(t said) bool {
		return v.of(&t, q.Sources, q.Trusted) || tool != nil && t.tool != "" && tool(string(t.tool))
	})
}

// with returns the verdict of a policy on a call of the tool t in a session with some texts, which
// is the same for every split of the arguments.
func with(t *testing.T, p *eval.Policies, args string, texts flow.View) stopgate.Verdict {
	t.Helper()
	v, _ := evaluated(t, p, args, texts)
	return v
}

func evaluated(t *testing.T, p *eval.Policies, args string, texts flow.View) (stopgate.Verdict, *eval.Evaluation) {
	t.Helper()
	b := p.BindUnder(stopgate.Call{Tool: "t"}, eval.Circumstances{Situation: p.Situation(stopgate.Groups{}, noData, texts)})
	whole := b.EvaluateWith(texts)
	whole.Feed([]byte(args))
	v := whole.Close(stopgate.Ended)
	want := spellAll(whole.Trace(), spell)
	for _, size := range []int{1, 2, 3, 7} {
		e := b.EvaluateWith(texts)
		for rest := args; rest != ""; {
			n := min(size, len(rest))
			e.Feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		e.Close(stopgate.Ended)
		if got := spellAll(e.Trace(), spell); got != want {
			t.Fatalf("in pieces of %d bytes:\n%s\nwhole:\n%s", size, got, want)
		}
	}
	return v, whole
}
