package hook

import (
	"github.com/stopgate/stopgate/jsonstream"
)

// members writes a JSON object in the order of the calls. Empty members are omitted.
type members struct{ text []byte }

func (m *members) key(name string) {
	if len(m.text) == 0 {
		m.text = append(m.text, '{')
	} else {
		m.text = append(m.text, ',')
	}
	m.text = append(jsonstream.AppendQuote(m.text, name), ':')
}

func (m *members) str(name, text string) *members {
	if text != "" {
		m.key(name)
		m.text = jsonstream.AppendQuote(m.text, text)
	}
	return m
}

func (m *members) raw(name string, json []byte) *members {
	if len(json) > 0 {
		m.key(name)
		m.text = append(m.text, json...)
	}
	return m
}

func (m *members) flag(name string, yes bool) *members {
	m.key(name)
	if yes {
		m.text = append(m.text, "true"...)
	} else {
		m.text = append(m.text, "false"...)
	}
	return m
}

func (m *members) end() []byte {
	if len(m.text) == 0 {
		return []byte("{}")
	}
	return append(m.text, '}')
}

func (m *members) line() []byte { return append(m.end(), '\n') }

// denyReply is a reply that blocks in two ways: by the host's format on standard output,
// and by the exit status with the reason on standard error.
func denyReply(a Decision, words *members) Reply {
	return Reply{Stdout: words.line(), Stderr: []byte(a.reason() + "\n"), Exit: exitBlock}
}
