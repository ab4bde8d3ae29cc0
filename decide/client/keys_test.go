package client_test

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/decide/client"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// onSocket returns a client of a gate as its Unix socket serves it. Only programs answer there.
func onSocket(t *testing.T) *client.Client {
	t.Helper()
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(rules)}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	queue, err := approve.New(new(mem.Approvals), approve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := mem.New()
	g, err := gate.New(program, gate.WithApprover(queue), gate.WithStore(store))
	if err != nil {
		t.Fatal(err)
	}
	api, err := decide.New(decide.Options{
		Gate: g, Queue: queue, Sessions: store, SessionSecret: bytes.Repeat([]byte("s"), 32), Programs: true,
		Describe: func() decide.Description {
			return decide.Description{Version: "v1", Policy: program.Hash(), Programs: true}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.Handler(true))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A program begins a session and answers the questions of its calls, whole and while they arrive.
func TestSessionOfAProgram(t *testing.T) {
	c := onSocket(t)
	ctx := t.Context()
	g, err := c.Gate(ctx)
	if err != nil || g.Version != "v1" || !g.Programs {
		t.Fatal(g, err)
	}
	begun, err := c.Begin(ctx, "mine")
	if err != nil || begun.Session != "mine" {
		t.Fatal(begun, err)
	}
	if _, err := c.Begin(ctx, "mine"); problemCode(err) != "session_exists" {
		t.Error(err)
	}
	own := c.WithKey(begun.Key)
	if err := own.Spoke(ctx, client.Owner{Session: begun.Session}); err != nil {
		t.Error(err)
	}
	if err := c.Spoke(ctx, client.Owner{Session: begun.Session}); !errors.Is(err, client.ErrScope) {
		t.Error(err)
	}
	call := client.Call{Tool: "write", Args: []byte(`{"path":"README"}`), Session: begun.Session, Answers: true}
	d, err := own.Decide(ctx, call)
	if err != nil || !d.Pending() || d.Approval.Question == nil || !d.Approval.Question.Complete {
		t.Fatal(d, err)
	}
	q := d.Approval.Question
	if _, err := own.Approve(ctx, *q, ""); err != nil {
		t.Fatal(err)
	}
	if d, err = own.Wait(ctx, d.ID); err != nil || !d.Allowed() || d.Approval.By != "program" || d.Approval.Question != nil {
		t.Error(d, err)
	}

	call.Args, call.Wait = nil, time.Minute
	s, err := own.Stream(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte(`{"path":"README",`)); err != nil {
		t.Fatal(err)
	}
	if early := <-s.Asked(); early.Complete {
		t.Error("the question is complete before the arguments are")
	}
	if _, err := s.Write([]byte(`"content":"x"}`)); err != nil {
		t.Fatal(err)
	}
	var approved sync.WaitGroup
	approved.Go(func() {
		q := <-s.Asked()
		if _, err := own.Approve(ctx, q, ""); err != nil || !q.Complete {
			t.Error(q, err)
		}
	})
	if d, err := s.Close(); err != nil || !d.Allowed() {
		t.Error(d, err)
	}
	approved.Wait()
}

func problemCode(err error) string {
	var p *client.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}
