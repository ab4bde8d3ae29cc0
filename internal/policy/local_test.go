package policy_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

const ticket = `version = 1
[tools.open_ticket]
source = "local"
command = ["./scripts/open-ticket", "--from-stdin"]
summary = "Open a ticket."
description = "In the tracker."
[tools.open_ticket.parameters]
title = { type = "string", required = true }
[tools.open_ticket.policy]
run = "ask"
`

// Proves K0f, S3: tools with a command are listed with their descriptions; those of an
// untrusted file are not.
func TestLocalTools(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(ticket), Trusted: trusted}}, policy.Options{})
		if program == nil {
			t.Fatal(mistakes.Err())
		}
		list := program.LocalTools()
		if !trusted {
			if len(list) != 0 {
				t.Errorf("%+v", list)
			}
			continue
		}
		if len(list) != 1 || list[0].Definition.Name != "open_ticket" || strings.Join(list[0].Command, " ") != "./scripts/open-ticket --from-stdin" ||
			list[0].Definition.Description != "Open a ticket.\n\nIn the tracker." || !strings.Contains(string(list[0].Definition.Schema), `"required":["title"]`) {
			t.Errorf("%+v", list)
		}
	}
}

func TestCommandsThatAreMistakes(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{`["./scripts/open-ticket", "--from-stdin"]`, `"./scripts/open-ticket"`, "SG0104"},
		{`["./scripts/open-ticket", "--from-stdin"]`, `[]`, "SG0106"},
		{`["./scripts/open-ticket", "--from-stdin"]`, `[""]`, "SG0106"},
		{`["./scripts/open-ticket", "--from-stdin"]`, `[1]`, "SG0104"},
		{`source = "local"`, `source = "mcp"`, "SG0106"},
		{`open_ticket`, `"open_*"`, "SG0115"},
	} {
		_, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(strings.ReplaceAll(ticket, test.from, test.to)), Trusted: true}}, policy.Options{})
		found := false
		for _, d := range mistakes {
			found = found || string(d.Code) == test.want
		}
		if !found {
			t.Errorf("%s: %v", test.to, mistakes)
		}
	}
}
