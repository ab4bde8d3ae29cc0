// Package texts keeps the indexes of the texts of conversations: the recent ones in memory, and in
// a store where there is one.
//
//	k := texts.New(texts.Config{Load: load, Append: add, Lost: report, Memory: 256 << 20})
//	err := k.Add(ctx, texts.Access{Of: conversation, Reader: r, Keep: true}, false, []kept.Addition{{Message: m}})
//	view, at, err := k.View(ctx, access) // nil with an error: the texts are not known
//
// A conversation whose texts are not all in its index has no view, so that conditions on origins are
// in doubt: after a text that could not be added or stored, after a panic of the reader, under a
// reader of another meaning, and when an index that no store has was evicted. Such a conversation
// gets an index again only by an addition of all its texts, from the first one.
//
// Where a policy keeps the texts themselves, each segment of the log has its own; a [Position] in the
// log then names the texts of a view for replay.
//
// Processes share the texts through the log of the store. An index has the segments of the log in
// their order: it is built anew if another process appended first.
package texts
