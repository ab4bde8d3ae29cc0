package index_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// What a call wrote changes no answer of a view: it may be added as late as before the next text.
func TestCallsChangeNoView(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		with, without := index.New(key, index.Options{Budget: 4000}), index.New(key, index.Options{Budget: 4000})
		for i := range rapid.IntRange(1, 6).Draw(t, "batches") {
			b := drawBatch(t, i)
			again := *b
			with.Add(b)
			without.Add(&again)
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				text := []byte(phrase(4).Draw(t, "written"))
				with.Add(&index.Batch{Marks: [][]byte{text}, Written: [][]byte{text}})
			}
		}
		value, q := []byte(phrase(3).Draw(t, "value")), drawQuery(t)
		a, b := with.View(), without.View()
		if one, other := a.Find(value, q), b.Find(value, q); !reflect.DeepEqual(one, other) {
			t.Fatalf("Find(%q, %+v) is %+v with calls, %+v without", value, q, one, other)
		}
		if one, other := a.Carries(value, q), b.Carries(value, q); !reflect.DeepEqual(one, other) {
			t.Fatalf("Carries(%q, %+v) is %+v with calls, %+v without", value, q, one, other)
		}
		if one, other := a.Origin(value, q.Kind), b.Origin(value, q.Kind); one != other {
			t.Fatalf("Origin(%q) is %+v with calls, %+v without", value, one, other)
		}
		for _, untilUser := range []bool{false, true} {
			if one, other := a.Read(q, nil, untilUser), b.Read(q, nil, untilUser); one != other {
				t.Fatalf("Read(%+v, %t) is %t with calls, %t without", q, untilUser, one, other)
			}
		}
	})
}
