package jsonrpc_test

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// A message is parsed strictly, and forwarded byte for byte except for the edits.
func ExampleRead() {
	m, err := jsonrpc.Read([]byte(`{"jsonrpc":"2.0", "id":1, "method":"tools/call", "params":{"name":"read", "x-unknown":1.50}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	name, _ := m.Params.Get("name")
	fmt.Println(m.Method, name.Text())

	forwarded, err := m.Edit().ID("17").Set(m.Params, "name", []byte(`"notes_read"`)).Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", forwarded)

	// Of two members with the same name, a server may read the other one.
	_, err = jsonrpc.Read([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","name":"erase"}}`))
	var bad *jsonrpc.Error
	if errors.As(err, &bad) {
		fmt.Printf("%s\n", jsonrpc.AppendError(nil, bad.ID, jsonrpc.InvalidRequest, bad.Detail, nil))
	}
	// Output:
	// tools/call read
	// {"jsonrpc":"2.0", "id":17, "method":"tools/call", "params":{"name":"notes_read", "x-unknown":1.50}}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"a key is there twice"}}
}
