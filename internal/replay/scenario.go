package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/script"
)

// A Scenario is the script of one conversation.
type Scenario struct {
	Model string        // name of the model
	Turns []script.Turn // one per model response
}

// turn returns the turn after a history with this many assistant messages. After the end of the
// script the model only reports that it is done.
func (s *Scenario) turn(assistantMessages int) script.Turn {
	if assistantMessages < len(s.Turns) {
		return s.Turns[assistantMessages]
	}
	return script.Turn{Say: "That was the whole script; there is nothing left to do."}
}

// ParseScenario reads a script. The format has one statement per line; lines
// that start with # and empty lines outside of a text are ignored:
//
//	model NAME                  the model name that plays this script
//	turn                        the next response begins
//	say TEXT                    text of the response; several lines are joined
//	call TOOL                   a tool call, its arguments on the lines below it
//	  NAME string TEXT          a string argument
//	  NAME json VALUE           any argument as JSON
//	  NAME text                 a long string: the lines below it, indented by four
//	  NAME repeat N TEMPLATE    appends N lines; %d in the template counts from 1
//
// Lines of one name join to one argument; arguments keep the order of the script.
func ParseScenario(name string, text []byte) (*Scenario, error) {
	p := scenarioParser{s: &Scenario{}}
	for i, line := range strings.Split(string(text), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if err := p.endCall(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case p.s.Model == "":
		return nil, fmt.Errorf("%s: no line names the model", name)
	case len(p.s.Turns) == 0:
		return nil, fmt.Errorf("%s: the script has no turn", name)
	}
	return p.s, nil
}

type argument struct {
	name string
	text strings.Builder
	json string // set for json arguments
}

type scenarioParser struct {
	s      *Scenario
	call   bool // in a call
	args   []*argument
	inText bool
}

func (p *scenarioParser) line(line string) error {
	if p.inText {
		if body, ok := strings.CutPrefix(line, "    "); ok || strings.TrimSpace(line) == "" {
			p.args[len(p.args)-1].text.WriteString(body + "\n")
			return nil
		}
		p.trimText()
	}
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || strings.HasPrefix(trimmed, "#") {
		return nil
	}
	if strings.HasPrefix(line, "  ") {
		return p.argument(trimmed)
	}
	if err := p.endCall(); err != nil {
		return err
	}
	word, rest, _ := strings.Cut(trimmed, " ")
	switch word {
	case "model":
		p.s.Model = rest
		return nil
	case "turn":
		p.s.Turns = append(p.s.Turns, script.Turn{})
		return nil
	case "say", "call":
		if len(p.s.Turns) == 0 {
			return fmt.Errorf("%s before the first turn", word)
		}
	default:
		return fmt.Errorf("unknown statement %q: want model, turn, say or call", word)
	}
	turn := &p.s.Turns[len(p.s.Turns)-1]
	if word == "say" {
		turn.Say = strings.TrimPrefix(turn.Say+"\n"+rest, "\n")
		return nil
	}
	if rest == "" {
		return fmt.Errorf("call without a tool name")
	}
	turn.Calls = append(turn.Calls, script.Call{Tool: rest})
	p.call = true
	return nil
}

// trimText ends a text: empty lines after it belong to the script.
func (p *scenarioParser) trimText() {
	p.inText = false
	arg := p.args[len(p.args)-1]
	body := strings.TrimRight(arg.text.String(), "\n")
	arg.text.Reset()
	arg.text.WriteString(body + "\n")
}

func (p *scenarioParser) argument(line string) error {
	if !p.call {
		return fmt.Errorf("argument without a call")
	}
	name, rest, _ := strings.Cut(line, " ")
	kind, rest, _ := strings.Cut(rest, " ")
	var arg *argument
	if n := len(p.args); n > 0 && p.args[n-1].name == name && p.args[n-1].json == "" && kind != "json" {
		arg = p.args[n-1]
	} else {
		arg = &argument{name: name}
		p.args = append(p.args, arg)
	}
	switch kind {
	case "string":
		arg.text.WriteString(rest)
	case "json":
		if !json.Valid([]byte(rest)) {
			return fmt.Errorf("argument %s is not JSON", name)
		}
		arg.json = rest
	case "text":
		p.inText = true
	case "repeat":
		count, template, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return fmt.Errorf("repeat wants a count, not %q", count)
		}
		for i := range n {
			arg.text.WriteString(strings.ReplaceAll(template, "%d", strconv.Itoa(i+1)) + "\n")
		}
	default:
		return fmt.Errorf("unknown kind %q of argument %s: want string, json, text or repeat", kind, name)
	}
	return nil
}

// endCall writes the collected arguments of the current call.
func (p *scenarioParser) endCall() error {
	if p.inText {
		p.trimText()
	}
	if !p.call {
		return nil
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for i, arg := range p.args {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(script.Quote(arg.name))
		out.WriteByte(':')
		if arg.json != "" {
			out.WriteString(arg.json)
		} else {
			out.Write(script.Quote(arg.text.String()))
		}
	}
	out.WriteByte('}')
	calls := p.s.Turns[len(p.s.Turns)-1].Calls
	calls[len(calls)-1].Args = out.String()
	p.call, p.args = false, nil
	return nil
}
