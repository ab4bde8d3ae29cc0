package schema_test

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

func Example() {
	s, _, err := schema.ParseJSON([]byte(`{"type":"object","required":["path"],"properties":{
		"path":{"type":"string","x-stopgate-type":"path"},
		"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}}}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := s.Reach(jsonstream.Pointer{"edits", "old"})
	fmt.Println(r.Expanded, r.Types, "several:", r.CrossesArray)

	r = s.Reach(jsonstream.Pointer{"edit", "old"})
	fmt.Println(r.Problem+"; did you mean", r.Suggestion)

	for _, key := range []string{"path", "PATH", "path\x00", "cwd"} {
		m := s.Location().Member([]byte(key))
		fmt.Printf("%q is %v, property %d\n", key, m.Kind, m.Property)
	}

	arguments, _ := jsonstream.Parse([]byte(`{"path":"src/a","edits":[{"old":1}]}`), jsonstream.Options{})
	fmt.Println(s.Validate(arguments))
	// Output:
	// /edits/*/old string several: true
	// no parameter is named "edit" here; did you mean edits
	// "path" is declared, property 0
	// "PATH" is undeclared, property 0
	// "path\x00" is ambiguous, property 0
	// "cwd" is undeclared, property -1
	// /edits/0/old: must be a string, is a number
}

func ExampleFromParameters() {
	s, err := schema.FromParameters([]schema.Parameter{
		{Name: "path", Type: []string{"path"}, Required: true, Description: "the file to read"},
		{Name: "limit", Type: []string{"integer"}, Minimum: "1"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(s.ToJSONSchema()))
	// Output:
	// {"type":"object","properties":{"path":{"type":"string","description":"the file to read"},"limit":{"type":"integer","minimum":1}},"required":["path"]}
}
