package sdk

import "fmt"

// responsesCases are W43 to W45 as far as a library shows them.
func responsesCases() []testCase {
	stream := func(name string, w want, play func(r *responses)) testCase {
		var r responses
		r.begin()
		r.message(preamble)
		play(&r)
		return testCase{name: name, script: &script{api: "responses", events: r.list}, want: w}
	}
	completed := func(r *responses, items string) {
		r.add("response.completed", `"response":`+response("completed", messageItem(preamble, "completed")+items))
	}
	lost := []string{preamble, "[stopgate] The tool call `a` was not run: "}
	other := toolCall{"call_a", "a", `{"path":"other"}`}
	list := []testCase{
		stream("W43-only-at-the-end", want{texts: []string{preamble, refused("a")}, finish: "completed"}, func(r *responses) {
			completed(r, ","+callItem(badA, "completed", badA.Args))
		}),
		stream("W43-done-differs", want{texts: lost, finish: "completed"}, func(r *responses) {
			r.callBegins(callA)
			r.callDelta(callA, callA.Args)
			r.callEnds(other)
			completed(r, ","+callItem(other, "completed", other.Args))
		}),
		stream("W43-item-differs", want{texts: lost, finish: "completed"}, func(r *responses) {
			r.callBegins(callA)
			r.callDelta(callA, callA.Args)
			r.add("response.function_call_arguments.done", fmt.Sprintf(`"item_id":"fc_call_a","output_index":1,"arguments":%s`, quote(callA.Args)))
			r.add("response.output_item.done", fmt.Sprintf(`"output_index":1,"item":%s`, callItem(other, "completed", other.Args)))
			completed(r, ","+callItem(callA, "completed", callA.Args))
		}),
		stream("W43-end-differs", want{texts: lost, finish: "completed"}, func(r *responses) {
			r.call(callA)
			completed(r, ","+callItem(other, "completed", other.Args))
		}),
		stream("W44-incomplete", want{texts: lost, finish: "incomplete"}, func(r *responses) {
			r.call(callA)
			r.add("response.incomplete", `"response":`+response("incomplete", messageItem(preamble, "completed")+","+callItem(callA, "completed", callA.Args)))
		}),
		stream("W44-failed", want{loose: true}, func(r *responses) {
			r.call(callA)
			r.add("response.failed", `"response":`+response("failed", messageItem(preamble, "completed")+","+callItem(callA, "completed", callA.Args)))
		}),
		stream("W44-error", want{err: true}, func(r *responses) {
			r.call(callA)
			r.add("error", `"code":"server_error","message":"overloaded","param":null`)
		}),
		stream("W44-no-end", want{err: true}, func(r *responses) { r.call(callA) }),
		stream("W45-unknown-item", want{texts: []string{preamble, "was not run"}, finish: "completed"}, func(r *responses) {
			item := `{"id":"foo_1","type":"foo_call","call_id":"call_f","name":"a","arguments":"{}","status":"completed"}`
			r.add("response.output_item.added", `"output_index":1,"item":`+item)
			r.add("response.output_item.done", `"output_index":1,"item":`+item)
			completed(r, ","+item)
		}),
		stream("W45-reasoning", want{texts: []string{preamble, refused("a")}, finish: "completed"}, func(r *responses) {
			item := `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"aGlkZGVu"}`
			r.add("response.output_item.added", `"output_index":1,"item":`+item)
			r.add("response.output_item.done", `"output_index":1,"item":`+item)
			r.index++
			r.call(badA)
			completed(r, ","+item+","+callItem(badA, "completed", badA.Args))
		}),
	}
	reset := stream("W44-reset", want{err: true}, func(r *responses) { r.call(callA) })
	reset.cut = true
	for i := range list {
		// What the provider said in these it does not remember here: no next turn.
		list[i].once = true
		if list[i].finish == "incomplete" {
			list[i].raises = []string{"openai-python"} // its stream helper does
		}
	}
	return append(list, reset)
}
