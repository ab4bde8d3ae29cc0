package gen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/stopgate/stopgate/internal/testkit/naive"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
)

// converse draws the events of the session.
func (c *FlowCase) converse(r *rand.Rand) {
	if r.IntN(3) == 0 {
		c.Events = append(c.Events, naiveflow.Event{Kind: "system", Text: "Instructions: " + sentence(r)})
	}
	c.Events = append(c.Events, naiveflow.Event{Kind: "user", Text: sentence(r)})
	for range r.IntN(5) {
		c.Events = append(c.Events, c.Event(r)...)
	}
}

// Event draws what happens next in the session: a message, or a call and its result.
func (c *FlowCase) Event(r *rand.Rand) []naiveflow.Event {
	switch r.IntN(12) {
	case 0, 1, 2:
		return []naiveflow.Event{{Kind: "user", Text: sentence(r)}}
	case 3:
		return []naiveflow.Event{{Kind: "user", Text: sentence(r) + "\n<system-reminder>" + sentence(r) + "</system-reminder>"}}
	case 4:
		return []naiveflow.Event{{Kind: "answer", Text: sentence(r)}}
	case 5:
		return []naiveflow.Event{{Kind: "other", Text: sentence(r)}}
	case 6: // the prompt of a model, and a line that somebody wrote before
		prompt := sentence(r)
		call := naiveflow.Event{Kind: "call", Tool: "page", Args: args("prompt", prompt)}
		return []naiveflow.Event{call, {Kind: "user", Text: prompt}}
	}
	return c.Result(r, pick(r, []string{"find_contacts", "inbox", "inbox", "page", "page", "read_profile", "accounts", "add_entry", "stranger", ""}))
}

// Result draws a call of a tool and its result.
func (c *FlowCase) Result(r *rand.Rand, tool string) []naiveflow.Event {
	e := naiveflow.Event{Kind: "result", Tool: tool, Call: fmt.Sprint("call", r.IntN(1000)), Released: r.IntN(12) > 0, Failed: r.IntN(15) == 0, Args: "{}"}
	word := func(kind string) string { return pick(r, flowWords[kind]) }
	switch tool {
	case "find_contacts":
		e.Args = args("query", word(""))
		e.Text = encode([]any{map[string]any{"name": word(""), "email": word("email"), "note": sentence(r)}, map[string]any{"name": "Zoe", "email": word("email")}}[:1+r.IntN(2)])
	case "inbox":
		mail := func() any {
			from := word("email")
			if r.IntN(3) == 0 {
				from = "Bob <" + from + ">"
			}
			return map[string]any{"from": from, "subject": pick(r, []string{"the bill", "hello", sentence(r)}), "body": sentence(r)}
		}
		e.Text = encode(map[string]any{"mails": []any{mail(), mail()}[:r.IntN(3)]})
	case "page":
		e.Args = args("url", word("url"))
		e.Text = pick(r, []string{sentence(r), "<p>" + sentence(r) + "</p><!-- " + sentence(r) + " -->", "<p>" + sentence(r) + "</p><a href=\"" + word("url") + "\">link</a><span style=\"display:none\">" + word("email") + "</span>", "IBAN: " + word("iban") + "\n" + sentence(r)})
	case "read_profile":
		e.Args = args("path", pick(r, []string{"/srv/profile.txt", "/tmp/out.txt"}))
		e.Text = "Owner: " + word("") + "\nIBAN: " + word("iban") + "\n"
		if r.IntN(3) == 0 {
			e.Text += "Owner: " + word("") + "\n"
		}
	case "accounts":
		e.Text = encode(map[string]any{word("id"): map[string]any{"owner": word(""), "sum": json.Number(word("n"))}, "Z-1": word("iban")})
	case "add_entry":
		e.Args = args("email", word("email"), "note", word(""))
		e.Text = "added: " + e.Args
	default:
		e.Text = sentence(r)
	}
	if r.IntN(20) == 0 {
		e.Args = args("query", anyValue(r))
	}
	e.Opaque = r.IntN(25) == 0
	var all []naiveflow.Event
	if e.Released && tool != "" {
		all = append(all, naiveflow.Event{Kind: "call", Tool: tool, Args: e.Args})
	}
	if all = append(all, e); r.IntN(15) == 0 {
		again := e
		again.Text = sentence(r)
		all = append(all, again)
	}
	return all
}

func args(members ...string) string {
	m := map[string]string{}
	for i := 0; i < len(members); i += 2 {
		m[members[i]] = members[i+1]
	}
	return encode(m)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Args writes arguments of the judged tool: values of the texts as they are, in disguise, or made up.
func (c *FlowCase) Args(r *rand.Rand) string {
	w := &writer{r: r}
	c.arguments(w, c.tool)
	return w.String()
}

func (c *FlowCase) arguments(w *writer, s *naive.Schema) {
	w.WriteByte('{')
	first := true
	for _, p := range s.Props {
		if !p.Required && w.r.IntN(5) == 0 {
			continue
		}
		if !first {
			w.WriteByte(',')
		}
		first = false
		w.quote(p.Name)
		w.WriteByte(':')
		c.argument(w, p.Name, p.Schema)
	}
	w.WriteByte('}')
}

func (c *FlowCase) argument(w *writer, name string, s *naive.Schema) {
	r := w.r
	switch name {
	case "to", "e":
		w.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				w.WriteByte(',')
			}
			if name == "to" {
				c.argument(w, "", s.Items)
			} else {
				c.arguments(w, s.Items)
			}
		}
		w.WriteByte(']')
	case "n":
		w.WriteString(pick(r, []string{"1500", "2600", "7", "12500", "1500.0", "99"}))
	case "flag":
		w.WriteString(pick(r, flowWords["flag"]))
	case "o":
		w.WriteString(encode(pick(r, []any{
			map[string]any{}, map[string]any{pick(r, flowWords[""]): anyValue(r)}, map[string]any{"key": map[string]any{"inner": []any{anyValue(r), 1500}}}, map[string]any{"blue shirt": true, "more": ""},
		})))
	default:
		kind := s.As
		if name == "repo" {
			kind = "repo"
		}
		v := pick(r, values(kind, r))
		switch n := r.IntN(20); {
		case n < 3:
			v = disguised(r, v)
		case n == 3:
			v = "made up 77" + v[:1]
		case n == 4:
			v = ""
		case n == 5 && len(c.Events) > 0:
			v = sentence(r)
		}
		w.quote(v)
	}
}
