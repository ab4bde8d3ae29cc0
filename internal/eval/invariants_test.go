package eval_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// Proves I4, D26-25, D26-33: nothing is released before the normal end of one complete object,
// whatever verdicts were published, and nothing of a refused call is ever released.
func TestI4NoEarlyGrant(t *testing.T) {
	ends := []stopgate.End{stopgate.Failed, stopgate.Truncated, stopgate.Cancelled, stopgate.Ended}
	eachDocument(t, func(_ *gen.Case, e *eval.Evaluation, _ *eval.Binding, text string, r *rand.Rand) string {
		for i := range text {
			if e.Feed([]byte(text[i : i+1])); e.Args() != nil || e.Document().Root().IsValid() {
				return fmt.Sprintf("released with byte %d", i+1)
			}
		}
		end := ends[r.IntN(len(ends))]
		v := e.Close(end)
		released := e.Args() != nil
		switch {
		case released && (v.Terminal() || !v.Decided):
			return spell(v) + " is released"
		case released && end != stopgate.Ended:
			return end.String() + " is released"
		case released && !jsontext.Value(text).IsValid():
			return "broken text is released"
		case !released && v.Mode == stopgate.Unattended:
			return "a final permission releases nothing"
		}
		return ""
	})
}

// Proves I5, P4, M05, M06, M07: which leaves of a list of paths decide, stated on its leaves
// directly.
func TestI5QuantifierByPolarity(t *testing.T) {
	b := compile(t, `version = 1
[tools.t.parameters.edits]
type = "array"
items = { type = "object", properties = { paths = { type = "array", items = { type = "string" } } } }
[tools.t.policy]
run = [
  { arg = "/edits/paths", enum = ["a", "b"], mode = "unattended" },
  { arg = "/edits/paths", const = "x", mode = "deny" },
]
`).Bind(stopgate.Call{Tool: "t"})
	n, seed := drawn(t)
	r := rand.New(rand.NewPCG(seed, 5))
	seen := map[stopgate.Mode]int{}
	for range n {
		var edits []string
		good, bad, lacking, leaves := true, false, false, 0
		for range r.IntN(4) {
			if r.IntN(8) == 0 {
				edits, lacking = append(edits, `{}`), true
				continue
			}
			var paths []string
			for range r.IntN(4) {
				p := []string{"a", "b", "c", "x"}[min(r.IntN(5), r.IntN(5), 3)]
				paths = append(paths, `"`+p+`"`)
				good, bad, leaves = good && (p == "a" || p == "b"), bad || p == "x", leaves+1
			}
			lacking = lacking || len(paths) == 0
			edits = append(edits, `{"paths":[`+strings.Join(paths, ",")+`]}`)
		}
		want := stopgate.Ask
		switch {
		case good && leaves > 0 && !lacking:
			want = stopgate.Unattended
		case bad:
			want = stopgate.Deny
		}
		args := `{"edits":[` + strings.Join(edits, ",") + `]}`
		if v := final(t, b, args); v.Mode != want {
			t.Fatalf("%s: %s, want %s", args, spell(v), want)
		}
		seen[want]++
	}
	if len(seen) < 3 {
		t.Errorf("the generator has gone stale: %v", seen)
	}
}

// adversary adds data to arguments: elements to lists, undeclared keys, values of other types.
func adversary(r *rand.Rand, text string) (more, how string) {
	switch how = []string{"element", "key", "type"}[r.IntN(3)]; how {
	case "element":
		if i := strings.Index(text, `"]`); i >= 0 {
			return text[:i+1] + `,"a"` + text[i+1:], how
		}
	case "key":
		if i := strings.LastIndex(text, `}`); i > 1 {
			return text[:i] + `,"added":"a"}`, how
		}
	default:
		if i := strings.Index(text, `"c"`); i >= 0 {
			return text[:i] + []string{`7`, `{"x":"a"}`, `["a"]`, `null`}[r.IntN(4)] + text[i+3:], how
		}
	}
	return "", how
}

// growth searches for arguments that are not permitted, but are after data was added.
func growth(t *testing.T, text string) (before, after string) {
	b := compile(t, text).Bind(stopgate.Call{Tool: "t"})
	n, seed := drawn(t)
	r := rand.New(rand.NewPCG(seed, 6))
	for range n {
		var list []string
		for range 1 + r.IntN(3) {
			list = append(list, `"`+string("abc"[r.IntN(3)])+`"`)
		}
		before = fmt.Sprintf(`{"list":[%s],"one":"%c"}`, strings.Join(list, ","), "abc"[r.IntN(3)])
		after, _ = adversary(r, before)
		if after != "" && final(t, b, before).Mode != stopgate.Unattended && final(t, b, after).Mode == stopgate.Unattended {
			return before, after
		}
	}
	return "", ""
}

const growing = `version = 1
[tools.t.parameters]
list = { type = "array", items = { type = "string" } }
one = { type = "string" }
[tools.t.policy]
run = [ { arg = "/list", const = "a", mode = "unattended"%s }, { arg = "/one", const = "a", mode = "unattended" }, { mode = "ask" } ]
`

// Proves I6: adding data never turns a call into a permitted one. The control run with the
// quantifier of D25 must find the counterexample that the quantifier by mode excludes.
func TestI6AddingDataNeverHelps(t *testing.T) {
	if before, after := growth(t, fmt.Sprintf(growing, "")); before != "" {
		t.Errorf("%s is not permitted, %s is", before, after)
	}
	if before, _ := growth(t, fmt.Sprintf(growing, `, match = "any"`)); before == "" {
		t.Error("the control run with D25's quantifier finds nothing: the search is too weak")
	}
}

// Proves I7, P7: accepted arguments are strict JSON, and refusals have the same code under
// unrelated policies.
func TestI7StrictText(t *testing.T) {
	other := compile(t, "version = 1\n[tools.t.policy]\nrun = \"ask\"\n").Bind(stopgate.Call{Tool: "t"})
	another := compile(t, "version = 1\n[tools.t.policy]\nrun = [ { arg = \"/never\", const = 1, mode = \"edit\" } ]\n").Bind(stopgate.Call{Tool: "t"})
	eachDocument(t, func(_ *gen.Case, e *eval.Evaluation, _ *eval.Binding, text string, r *rand.Rand) string {
		if r.IntN(2) == 0 { // break it
			i := r.IntN(len(text) + 1)
			text = text[:i] + string([]byte{byte(r.IntN(256))}) + text[min(len(text), i+r.IntN(2)):]
		}
		e.Reset(other)
		first := run(e, text, len(text)+1)
		a := first[len(first)-1]
		accepted := e.Args() != nil
		e.Reset(another)
		second := run(e, text, 1)
		z := second[len(second)-1]
		strict := jsontext.Value(text).IsValid() && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
		switch {
		case a.Code == stopgate.CodeLimitExceeded: // strict JSON, but too much of it
		case accepted != strict:
			return fmt.Sprintf("accepted %t, strict %t: %s", accepted, strict, spell(a))
		case !accepted && (a.Code != z.Code || a.DecidedAt != z.DecidedAt):
			return spell(a) + " and " + spell(z)
		}
		return ""
	})
}

// Proves I8, P8, M18: every parser reads the released arguments as the value that was evaluated.
func TestI8JudgedIsRun(t *testing.T) {
	b := compile(t, "version = 1\n[tools.t.policy]\nrun = \"unattended\"\n").Bind(stopgate.Call{Tool: "t"})
	eachDocument(t, func(_ *gen.Case, e *eval.Evaluation, _ *eval.Binding, text string, _ *rand.Rand) string {
		e.Reset(b)
		if run(e, text, 3); e.Args() == nil {
			return ""
		}
		judged, _ := naive.Read(text)
		released, fault := naive.Read(string(e.Args()))
		if fault != nil || judged.JSON() != released.JSON() {
			return "the released text has another value: " + string(e.Args())
		}
		want := judged.JSON()
		for name, read := range readers {
			got, err := read(e.Args())
			if err != nil || canonical(got) != canonical(plainValue(judged)) {
				return fmt.Sprintf("%s reads %s of %s, want %s (%v)", name, canonical(got), e.Args(), want, err)
			}
		}
		return ""
	})
}

// readers are five ways to parse JSON; those that choose among repeated keys find none in released
// arguments.
var readers = map[string]func([]byte) (any, error){
	"encoding/json": func(text []byte) (v any, err error) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		return v, d.Decode(&v)
	},
	"json/v2": func(text []byte) (v any, err error) {
		err = jsonv2.Unmarshal(text, &v, jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
			if d.PeekKind() != '0' {
				return errors.ErrUnsupported
			}
			n, err := d.ReadValue()
			*v = json.Number(n)
			return err
		})))
		return v, err
	},
	"first wins": func(text []byte) (any, error) { return chosen(text, true) },
	"last wins":  func(text []byte) (any, error) { return chosen(text, false) },
	"lenient": func(text []byte) (any, error) {
		return chosen(bytes.ReplaceAll(text, []byte(",}"), []byte("}")), false)
	},
}

// chosen parses JSON and keeps the first or the last of repeated keys.
func chosen(text []byte, first bool) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var read func() (any, error)
	read = func() (any, error) {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		switch token.Kind() {
		case '{':
			object := map[string]any{}
			for d.PeekKind() != '}' {
				key, err := d.ReadToken()
				if err != nil {
					return nil, err
				}
				name := key.String()
				value, err := read()
				if err != nil {
					return nil, err
				}
				if _, taken := object[name]; !taken || !first {
					object[name] = value
				}
			}
			_, err := d.ReadToken()
			return object, err
		case '[':
			list := []any{}
			for d.PeekKind() != ']' {
				value, err := read()
				if err != nil {
					return nil, err
				}
				list = append(list, value)
			}
			_, err := d.ReadToken()
			return list, err
		case '0':
			return json.Number(token.String()), nil
		case '"':
			return token.String(), nil
		case 'n':
			return nil, nil
		}
		return token.Kind() == 't', nil
	}
	return read()
}

// plainValue converts a naive tree to the types of decoders.
func plainValue(n *naive.Node) any {
	switch n.Kind {
	case naive.Object:
		object := map[string]any{}
		for _, m := range n.Members {
			object[m.Key] = plainValue(m.Value)
		}
		return object
	case naive.Array:
		list := []any{}
		for _, e := range n.Elems {
			list = append(list, plainValue(e))
		}
		return list
	case naive.Number:
		return json.Number(n.Text)
	case naive.String:
		return n.Text
	case naive.Bool:
		return n.Text == "true"
	}
	return nil
}

func canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Proves I9, A4, A5, A6, A25: only the exact spelling of a declared name can be permitted, and
// another spelling next to it is denied.
func TestI9CaseAndNormalForm(t *testing.T) {
	b := compile(t, `version = 1
[tools.t.parameters]
"pathſ" = { type = "string" }
task = { type = "string" }
"caf\u00e9" = { type = "string" }
env = { type = "object", additional_properties = { type = "string" } }
[tools.t.policy]
run = [
  { arg = "/task", const = "ok", mode = "unattended" },
  { arg = "/caf\u00e9", const = "ok", mode = "unattended" },
  { mode = "ask" },
]
`).Bind(stopgate.Call{Tool: "t"})
	for name, variants := range map[string][]string{
		"task":      {"TASK", "Task", "tasK", "ta\u017fk", "tas\u212a", "task\u0000", "\u0001task", "ta\u200bsk", "\ufefftask", "ｔask", "task\u007f", "task\u0000x", "task\u0000\u0001"},
		"caf\u00e9": {"cafe\u0301", "CAF\u00c9", "CAFE\u0301", "c\u00adaf\u00e9"},
	} {
		if v := final(t, b, fmt.Sprintf(`{%q:"ok"}`, name)); v.Mode != stopgate.Unattended {
			t.Errorf("%q itself: %s", name, spell(v))
		}
		for _, variant := range variants {
			key, err := json.Marshal(variant)
			if err != nil {
				t.Fatal(err)
			}
			if v := final(t, b, fmt.Sprintf(`{%s:"ok"}`, key)); v.Mode == stopgate.Unattended {
				t.Errorf("%s alone: %s", key, spell(v))
			}
			for _, args := range []string{fmt.Sprintf(`{%q:"ok",%s:"evil"}`, name, key), fmt.Sprintf(`{%s:"evil",%q:"ok"}`, key, name)} {
				if v := final(t, b, args); brief(v) != "deny ambiguous_key" {
					t.Errorf("%s: %s", args, spell(v))
				}
			}
		}
	}
	if v := final(t, b, `{"task":"ok","env":{"A":"x","a":"y","A\u0000":"z"}}`); v.Mode != stopgate.Unattended {
		t.Errorf("keys of a map are data: %s", spell(v))
	}
}

// Proves I10, A19, A20, M16: numbers compare as exact rationals do.
func TestI10Numbers(t *testing.T) {
	n, seed := drawn(t)
	r := rand.New(rand.NewPCG(seed, 10))
	digits := func() string {
		s := string("123456789"[r.IntN(9)])
		for range r.IntN(22) {
			s += string("0123456789"[r.IntN(10)])
		}
		return s
	}
	literal := func() string {
		s := []string{"", "-"}[r.IntN(2)] + []string{"0", digits(), "9007199254740992", "9007199254740993"}[r.IntN(4)]
		if r.IntN(2) == 0 {
			s += "." + []string{"0", "00", "5", digits()}[r.IntN(4)]
		}
		if r.IntN(3) == 0 {
			s += fmt.Sprintf("e%d", r.IntN(60)-30)
		}
		return s
	}
	compares := map[string]func(c int) bool{
		"minimum": func(c int) bool { return c >= 0 }, "maximum": func(c int) bool { return c <= 0 },
		"exclusive_minimum": func(c int) bool { return c > 0 }, "exclusive_maximum": func(c int) bool { return c < 0 },
		"const": func(c int) bool { return c == 0 },
	}
	kinds := []string{"minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "const"}
	for range n / 50 {
		bound, kind := literal(), kinds[r.IntN(len(kinds))]
		b := compile(t, fmt.Sprintf("version = 1\n[tools.t.parameters]\nn = { type = \"number\" }\n[tools.t.policy]\nrun = [ { arg = \"/n\", %s = { number = %q }, mode = \"unattended\" } ]\n", kind, bound)).
			Bind(stopgate.Call{Tool: "t"})
		want, _ := new(big.Rat).SetString(bound)
		for range 50 {
			value := literal()
			if r.IntN(3) == 0 {
				value = bound + []string{"", "0", "1"}[r.IntN(3)]
				if !strings.ContainsAny(bound, ".") || strings.ContainsAny(bound, "e") {
					value = bound
				}
			}
			got, _ := new(big.Rat).SetString(value)
			v := final(t, b, `{"n":`+value+`}`)
			if (v.Mode == stopgate.Unattended) != compares[kind](got.Cmp(want)) {
				t.Fatalf("%s %s %s: %s", value, kind, bound, spell(v))
			}
		}
	}
}

// Proves I12, F15, P22: complete and streamed calls get the same verdict, from a fresh and from a
// reused evaluation.
func TestI12ModeIndependence(t *testing.T) {
	used := new(eval.Evaluation)
	eachDocument(t, func(_ *gen.Case, e *eval.Evaluation, b *eval.Binding, text string, _ *rand.Rand) string {
		streamed := run(e, text, 1)
		used.Reset(b)
		complete := run(used, text, len(text)+1)
		if spellAll(streamed, spell) != spellAll(complete, spell) || !bytes.Equal(e.Args(), used.Args()) {
			return spellAll(streamed, spell) + "\nand whole\n" + spellAll(complete, spell)
		}
		return ""
	})
}

// Proves I13, D26-06: calls that share a binding do not affect each other, interleaved in one
// goroutine or running in several.
func TestI13IsolationOfCalls(t *testing.T) {
	n, seed := drawn(t)
	for i := range n / 500 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := gen.Draw(r)
		b := bind(t, c)
		var texts, separate []string
		var evals []*eval.Evaluation
		for range 8 {
			text := c.Document(r)
			e := b.Evaluate()
			texts, separate = append(texts, text), append(separate, spellAll(run(e, text, len(text)+1), spell))
			evals = append(evals, b.Evaluate())
		}
		at := make([]int, len(texts))
		for left := len(texts); left > 0; {
			k := r.IntN(len(texts))
			switch {
			case at[k] > len(texts[k]):
			case at[k] == len(texts[k]):
				evals[k].Close(stopgate.Ended)
				at[k]++
				left--
			default:
				evals[k].Feed([]byte(texts[k][at[k] : at[k]+1]))
				at[k]++
			}
		}
		var running sync.WaitGroup
		for k := range texts {
			if got := spellAll(evals[k].Trace(), spell); got != separate[k] {
				t.Fatalf("interleaved: %s\nalone: %s", got, separate[k])
			}
			running.Go(func() {
				if got := spellAll(run(b.Evaluate(), texts[k], 2), spell); got != separate[k] {
					t.Errorf("at the same time: %s\nalone: %s", got, separate[k])
				}
			})
		}
		running.Wait()
	}
}

// Proves I15, K35, D25-50: an additional file never makes a verdict weaker. Two refusals are not
// compared: the first one stays (K7).
func TestI15Composition(t *testing.T) {
	compared := 0
	documents, seed := drawn(t)
	for i := range documents / 50 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := gen.Draw(r)
		if len(c.Files) < 2 {
			continue
		}
		if l := &c.Naive.Layers[1]; !l.Untrusted && (l.OnSchema == "ask" || l.Uncovered == "allow") {
			continue // an operator's setting here also applies to the tables of his other files
		}
		fewer := *c
		fewer.Files = slices.Clone(c.Files[:1])
		all, one := bind(t, c), bind(t, &fewer)
		for range 50 {
			text := c.Document(r)
			with, without := final(t, all, text), final(t, one, text)
			if stopgate.Strictest(with.Mode, without.Mode) != with.Mode && !with.Terminal() {
				t.Fatalf("%s\narguments %q\nwith: %s\nwithout: %s", dump(c), text, spell(with), spell(without))
			}
			compared++
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
