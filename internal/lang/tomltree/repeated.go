package tomltree

import "github.com/stopgate/stopgate/internal/lang/diag"

func (r *reader) twice(k Entry, first *Entry) {
	r.report(diag.Duplicate, k.KeyRange, quoteKey(k.Key)+" is already written", "keep one of the two",
		diag.Related{Range: first.KeyRange, Message: "the first one is here"})
}

func (r *reader) closed(k Entry, first *Entry) {
	problem := "is a value that cannot get members here"
	if first.Value.Kind == Table {
		problem = "is complete where it stands and cannot get more members here"
	}
	r.report(diag.Duplicate, k.KeyRange, quoteKey(k.Key)+" "+problem, "write all members in one place",
		diag.Related{Range: first.KeyRange, Message: "it is written here"})
}

func quoteKey(key string) string { return "`" + Key(key) + "`" }
