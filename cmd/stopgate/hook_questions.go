package main

import (
	"fmt"
	"io"
	"os"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/secret"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/internal/visible"
)

// hookQuestions say who is told when a call waits for an answer. What is wrong with them
// leaves nobody to tell, so that the call is denied, and nothing else is.
func hookQuestions(l loaded, talk io.Writer) approve.Options {
	o := approve.Options{Defer: defers(l.program)}
	table := l.program.Settings().Tables["approvals"]
	if table == nil || table.Get("notify") == nil && table.Get("webhook") == nil {
		return o
	}
	c := apiReader{from: secret.Reader{Getenv: os.Getenv}}
	if c.diags = tomltree.Decode(table, &c.s.approvals); !c.diags.HasErrors() {
		c.approvals(table)
	}
	if c.diags.HasErrors() {
		fmt.Fprintf(talk, "stopgate: nobody can be told about questions: %s\n", visible.Text(c.diags.Err().Error()))
		return o
	}
	o.Notify = c.s.notifiers()
	o.Failed = func(what string, err error) {
		fmt.Fprintf(talk, "stopgate: %s: %s\n", what, visible.Text(err.Error()))
	}
	return o
}
