package definition_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves that a list is read to its end once, that an unknown tool does not read it again within a
// second, and that a list without an end is refused.
func TestCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := map[string]string{
			"":  `{"tools":[{"name":"a","inputSchema":{}},{"name":"no schema"}],"nextCursor":"2"}`,
			"2": `{"tools":[{"name":"b","inputSchema":{}}]}`,
		}
		var k definition.Catalog
		reads, invalid := 0, 0
		page := func(cursor string) (jsonstream.Value, error) {
			reads++
			return jsonstream.Parse([]byte(pages[cursor]), jsonstream.Options{})
		}
		add := func(v jsonstream.Value) {
			if tool, _ := k.Add(v); tool == nil {
				invalid++
			}
		}
		if tool, err := k.Find("b", page, add); err != nil || tool == nil || tool.Name != "b" || reads != 2 || invalid != 1 {
			t.Errorf("%+v %v after %d reads, %d invalid", tool, err, reads, invalid)
		}
		if tool, err := k.Find("c", page, add); tool != nil || err != nil || reads != 2 {
			t.Errorf("unknown: %+v %v after %d reads", tool, err, reads)
		}
		time.Sleep(time.Second)
		if k.Find("c", page, add); reads != 4 {
			t.Errorf("%d reads a second later", reads)
		}
		endless := func(cursor string) (jsonstream.Value, error) {
			return jsonstream.Parse([]byte(`{"tools":[],"nextCursor":"`+cursor+`x"}`), jsonstream.Options{})
		}
		k.Clear()
		if _, err := k.Find("c", endless, add); !errors.Is(err, definition.ErrList) {
			t.Errorf("endless list: %v", err)
		}
	})
}
