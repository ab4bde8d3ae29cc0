//go:build js && wasm

// Command wasm is the decision core for the playground page, as WebAssembly. It defines the object
// stopgatePlayground in the global scope of a worker:
//
//	compile(policy)                     the report of a policy file, which later calls are decided by
//	trace(tool, args, before)           the verdicts on a call, byte by byte
//	at(tool, args, before, n, end)      the state of the call after n bytes
//	send(tool, args, before)            what leaves the gate when the call has ended
//
// Texts are Uint8Arrays with UTF-8, args with any bytes. Every function returns JSON: a result, or
// {"error": "..."}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"github.com/stopgate/stopgate/internal/playground"
)

func main() {
	debug.SetGCPercent(400) // there is one thread: memory is cheaper than its time
	var c core
	js.Global().Set("stopgatePlayground", js.ValueOf(map[string]any{
		"compile": function(1, c.compile),
		"trace":   function(3, c.trace),
		"at":      function(5, c.at),
		"send":    function(3, c.send),
	}))
	select {}
}

// core is the state of the worker.
type core struct{ policy *playground.Policy } // nil: there is none, or it has mistakes

func (c *core) compile(args []js.Value) (any, error) {
	text, err := bytesOf(args[0], playground.MaxPolicy+1)
	if err != nil {
		return nil, err
	}
	c.policy = nil
	policy, report := playground.Compile(text)
	c.policy = policy
	return report, nil
}

func (c *core) trace(args []js.Value) (any, error) {
	call, err := c.call(args)
	if err != nil {
		return nil, err
	}
	return c.policy.Trace(context.Background(), call)
}

func (c *core) at(args []js.Value) (any, error) {
	call, err := c.call(args)
	if err != nil {
		return nil, err
	}
	if args[3].Type() != js.TypeNumber || args[4].Type() != js.TypeBoolean {
		return nil, errors.New("n is a number and end a boolean")
	}
	return c.policy.At(context.Background(), call, args[3].Int(), args[4].Bool())
}

func (c *core) send(args []js.Value) (any, error) {
	call, err := c.call(args)
	if err != nil {
		return nil, err
	}
	return c.policy.Send(context.Background(), call)
}

// call reads the tool, the arguments and what came before.
func (c *core) call(args []js.Value) (call playground.Call, err error) {
	if c.policy == nil {
		return call, errors.New("there is no valid policy")
	}
	tool, err := bytesOf(args[0], playground.MaxTool+1)
	if err != nil {
		return call, err
	}
	if call.Args, err = bytesOf(args[1], playground.MaxArgs+1); err != nil {
		return call, err
	}
	call.Before, err = bytesOf(args[2], playground.MaxBefore+1)
	call.Tool = string(tool)
	return call, err
}

// bytesOf copies a Uint8Array of at most most bytes; of a longer one it copies most, which is more
// than the playground takes.
func bytesOf(v js.Value, most int) ([]byte, error) {
	if !v.InstanceOf(js.Global().Get("Uint8Array")) {
		return nil, errors.New("a text is a Uint8Array")
	}
	b := make([]byte, min(v.Get("length").Int(), most))
	js.CopyBytesToGo(b, v)
	return b, nil
}

// function makes a function of JavaScript with n parameters. A panic is an error like others.
func function(n int, run func([]js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
		defer func() {
			if p := recover(); p != nil {
				result = failure(fmt.Errorf("the decision core failed: %v", p))
			}
		}()
		if len(args) != n {
			return failure(fmt.Errorf("want %d arguments, got %d", n, len(args)))
		}
		value, err := run(args)
		if err != nil {
			return failure(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return failure(err)
		}
		return string(text)
	})
}

func failure(err error) string {
	text, _ := json.Marshal(map[string]string{"error": err.Error()}) // a string always marshals
	return string(text)
}
