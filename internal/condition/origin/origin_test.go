package origin_test

import (
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

// recorder is a view that answers every query with one finding, and keeps the last query.
type recorder struct {
	finding flow.Finding
	query   flow.Query
}

func (r *recorder) Find(_ []byte, q *flow.Query) flow.Finding    { r.query = *q; return r.finding }
func (r *recorder) Carries(_ []byte, q *flow.Query) flow.Finding { r.query = *q; return r.finding }
func (r *recorder) Origin([]byte, flow.Kind) flow.Ref            { return flow.Ref{} }
func (r *recorder) Said(string) bool                             { return false }

func (r *recorder) Read(*flow.Query, func(string) bool, bool) bool { return false }

func spec(k condition.Kind, options ...condition.Setting) condition.Spec {
	s := kinds.Table().Spec(k, condition.Literal{Kind: condition.LiteralString, Text: "user"}, condition.Literal{Kind: condition.LiteralString, Text: "web"})
	s.Options = options
	return s
}

func option(key, text string) condition.Setting {
	return condition.Setting{Key: key, Value: condition.Literal{Kind: condition.LiteralString, Text: text}}
}

// The result of each condition for each finding, in both polarities, and the doubt that it follows
// from.
func TestResults(t *testing.T) {
	found := flow.Ref{Number: 3}
	certain := flow.Finding{Certain: true, Possible: true, Texts: []int{3}, First: found}
	possible := flow.Finding{Possible: true, First: found}
	doubt := flow.Finding{Possible: true, Doubt: flow.Dropped}
	for _, c := range []struct {
		name                  string
		finding               flow.Finding
		kind                  condition.Kind
		permits, restricts    bool
		doubtful, doubtfulNot flow.Doubt // of the permissive and the restrictive result
	}{
		{"certain", certain, condition.From, true, true, 0, 0},
		{"possible", possible, condition.From, false, true, 0, 0},
		{"nowhere", flow.Finding{}, condition.From, false, false, 0, 0},
		{"doubt", doubt, condition.From, false, true, flow.Dropped, flow.Dropped},
		{"doubt alone", flow.Finding{Doubt: flow.Unreported}, condition.From, false, true, flow.Unreported, flow.Unreported},
		{"certain", certain, condition.NotFrom, false, false, 0, 0},
		{"possible", possible, condition.NotFrom, false, true, 0, 0},
		{"nowhere", flow.Finding{}, condition.NotFrom, true, true, 0, 0},
		{"doubt", doubt, condition.NotFrom, false, true, flow.Dropped, flow.Dropped},
		{"certain", certain, condition.Carries, true, true, 0, 0},
		{"nowhere", flow.Finding{}, condition.Carries, false, false, 0, 0},
		{"doubt", doubt, condition.Carries, false, true, flow.Dropped, flow.Dropped},
	} {
		for _, restrictive := range []bool{false, true} {
			m, err := match.Compile(spec(c.kind), condition.Target{Type: schema.String}, restrictive, condition.Env{})
			if err != nil {
				t.Fatal(err)
			}
			var v condition.Value
			v.Reset([]byte("value"))
			v.SetTexts(&recorder{finding: c.finding})
			o := m.Origin(&v, schema.String)
			want, doubtful := c.permits, c.doubtful
			if restrictive {
				want, doubtful = c.restricts, c.doubtfulNot
			}
			if o.Holds != want || o.Doubt != doubtful || m.Judge(&v) != want {
				t.Errorf("%s %s, restrictive %v: %+v, want %v in doubt %d", c.name, c.kind, restrictive, o, want, doubtful)
			}
			v.SetTexts(nil)
			if o := m.Origin(&v, schema.String); o.Holds != restrictive || o.Doubt == 0 {
				t.Errorf("%s without texts, restrictive %v: %+v", c.kind, restrictive, o)
			}
			v.Reset([]byte("\xff"))
			if o := m.Origin(&v, schema.String); o.Holds != restrictive {
				t.Errorf("%s of bytes that are no text, restrictive %v: %+v", c.kind, restrictive, o)
			}
		}
	}
}

// With unknown = "ignore" a value carries nothing where texts are not known, but still what is known,
// and what was dropped.
func TestUnknownTextsMayBeIgnored(t *testing.T) {
	for _, c := range []struct {
		name    string
		finding flow.Finding
		holds   bool
	}{
		{"not reported", flow.Finding{Possible: true, Doubt: flow.Unreported}, false},
		{"found all the same", flow.Finding{Possible: true, Doubt: flow.Unreported, First: flow.Ref{Number: 3}}, true},
		{"certain", flow.Finding{Certain: true, Possible: true, Doubt: flow.Unreported}, true},
		{"dropped", flow.Finding{Possible: true, Doubt: flow.Dropped}, true},
		{"more readings than were tried", flow.Finding{Possible: true}, true},
		{"nowhere", flow.Finding{}, false},
	} {
		for _, target := range []condition.Target{{Type: schema.String}, {Type: schema.String, Annotation: schema.Command}} {
			m, err := match.Compile(spec(condition.Carries, option("unknown", "ignore")), target, true, condition.Env{})
			if err != nil {
				t.Fatal(err)
			}
			var v condition.Value
			v.Reset([]byte("curl value"))
			v.SetTexts(&recorder{finding: c.finding})
			if got := m.Origin(&v, schema.String).Holds; got != c.holds {
				t.Errorf("%s: %v", c.name, got)
			}
			v.SetTexts(nil)
			if m.Origin(&v, schema.String).Holds || m.Judge(&v) {
				t.Errorf("%s: it holds without texts", c.name)
			}
		}
	}
}

// Queries have the kind that the schema states, the options, and the names of the file's sources.
func TestQueries(t *testing.T) {
	for _, c := range []struct {
		target condition.Target
		of     schema.Type
		want   flow.Kind
	}{
		{condition.Target{Type: schema.String}, schema.String, flow.Text},
		{condition.Target{Type: schema.String, As: flow.Email}, schema.String, flow.Email},
		{condition.Target{Type: schema.String, Annotation: schema.Path}, schema.String, flow.Path},
		{condition.Target{Type: schema.String, Annotation: schema.URL}, schema.String, flow.URL},
		{condition.Target{Type: schema.String, Annotation: schema.URL, As: flow.Host}, schema.String, flow.Host},
		{condition.Target{}, schema.Number, flow.Number},
		{condition.Target{As: flow.Money}, schema.Number, flow.Money},
		{condition.Target{}, schema.Boolean, flow.Text},
	} {
		view := new(recorder)
		s := spec(condition.From, option("relation", "below"), option("weak", "true"), option("segments", "true"))
		m, err := match.Compile(s, c.target, true, condition.Env{Scope: "@1", Trusted: "ours\nweb@1\n"})
		if err != nil {
			t.Fatal(err)
		}
		var v condition.Value
		v.Reset([]byte("https://a.example/x"))
		v.SetTexts(view)
		m.Origin(&v, c.of)
		q := view.query
		if q.Kind != c.want || q.Relation != flow.Below || !q.Weak || !q.Segments || q.Sure ||
			len(q.Sources) != 2 || q.Sources[0] != flow.User || q.Sources[1] != "web@1" || len(q.Trusted) != 2 || q.Trusted[1] != "web@1" {
			t.Errorf("%+v: %+v, want kind %s", c.target, q, c.want)
		}
	}
	for tokens, ok := range map[string]bool{"1": true, "1000": true, "0": false, "1001": false, "-1": false, "1.5": false} {
		if _, err := match.Compile(spec(condition.Carries, option("tokens", tokens)), condition.Target{}, true, condition.Env{}); (err == nil) != ok {
			t.Errorf("tokens = %s: %v", tokens, err)
		}
	}
}

// A value with several readings is certain in none: a permissive condition asks no text about it.
func TestValuesMustBePlain(t *testing.T) {
	for _, c := range []struct {
		as    schema.Annotation
		value string
		plain bool
	}{
		{schema.Path, "docs/plan", true}, {schema.Path, "docs/../x", true}, {schema.Path, "docs/%2e%2e/x", false}, {schema.Path, "docs/$X", false},
		{schema.URL, "https://a.example/x", true}, {schema.URL, "https://a.example@evil.example/", false}, {schema.URL, `https://a.example\@evil.example/`, false},
	} {
		certain := &recorder{finding: flow.Finding{Certain: true, Possible: true}}
		m, err := match.Compile(spec(condition.From), condition.Target{Type: schema.String, Annotation: c.as}, false, condition.Env{Root: "/srv"})
		if err != nil {
			t.Fatal(err)
		}
		var v condition.Value
		v.Reset([]byte(c.value))
		v.SetTexts(certain)
		if got := m.Origin(&v, schema.String).Holds; got != c.plain {
			t.Errorf("%s: %v, want %v", c.value, got, c.plain)
		}
	}
}

// A permissive condition on a command line is a mistake, and never holds.
func TestCommandLinesAreNotPermitted(t *testing.T) {
	target := condition.Target{Type: schema.String, Annotation: schema.Command}
	for _, k := range []condition.Kind{condition.From, condition.NotFrom} {
		if err := match.Check(spec(k), target, false, &condition.Env{}); err == nil {
			t.Errorf("%s: no error", k)
		}
		m, err := match.Compile(spec(k), target, false, condition.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []flow.Finding{{}, {Certain: true, Possible: true}} {
			var v condition.Value
			v.Reset([]byte("make test"))
			v.SetTexts(&recorder{finding: f})
			if m.Origin(&v, schema.String).Holds {
				t.Errorf("%s holds for a command line", k)
			}
		}
	}
}
