package sdk

import (
	"context"
	"fmt"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	openairesponses "github.com/openai/openai-go/v3/responses"
)

var (
	toolNames  = []string{"a", "b", "c"}
	parameters = map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}, "required": []string{"path"}}
)

const (
	question = "Do what has to be done."
	result   = `{"done":true}`
	goOn     = "Go on."
)

// golang is the libraries for Go, in this process.
type golang struct{}

func (golang) do(t testing.TB, j job) (a answer) {
	var err error
	switch j.Client {
	case "chat":
		err = goChat(t.Context(), j, &a)
	case "responses":
		err = goResponses(t.Context(), j, &a)
	case "messages":
		err = goMessages(t.Context(), j, &a)
	default:
		err = fmt.Errorf("no client %q", j.Client)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func goChat(ctx context.Context, j job, a *answer) error {
	client := openai.NewClient(option.WithBaseURL(j.Base+"/v1"), option.WithAPIKey("sk-test"), option.WithMaxRetries(0))
	var tools []openai.ChatCompletionToolUnionParam
	for _, name := range toolNames {
		tools = append(tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: name, Parameters: parameters}))
	}
	ask := func(model string, messages []openai.ChatCompletionMessageParamUnion, seen *[]string) (*openai.ChatCompletion, error) {
		body := openai.ChatCompletionNewParams{Model: model, Messages: messages, Tools: tools}
		if j.Choices > 0 {
			body.N = openai.Int(int64(j.Choices))
		}
		if !j.Stream {
			return client.Chat.Completions.New(ctx, body)
		}
		body.StreamOptions.IncludeUsage = openai.Bool(true)
		stream := client.Chat.Completions.NewStreaming(ctx, body)
		var whole openai.ChatCompletionAccumulator
		for stream.Next() {
			whole.AddChunk(stream.Current())
			if call, ok := whole.JustFinishedToolCall(); ok {
				*seen = append(*seen, call.Name)
			}
		}
		return &whole.ChatCompletion, stream.Err()
	}
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}
	completion, err := ask(j.Model, messages, &a.Seen)
	if completion != nil {
		for _, choice := range completion.Choices {
			a.Text += choice.Message.Content
			a.Finish = choice.FinishReason
			for _, c := range choice.Message.ToolCalls {
				a.Calls = append(a.Calls, toolCall{c.ID, c.Function.Name, c.Function.Arguments})
			}
		}
		if n := int(completion.Usage.CompletionTokens); n > 0 {
			a.Tokens = &n
		}
	}
	if err != nil || j.Next == "" {
		return err
	}
	messages = append(messages, completion.Choices[0].Message.ToParam())
	for _, c := range a.Calls {
		messages = append(messages, openai.ToolMessage(result, c.ID))
	}
	if len(a.Calls) == 0 {
		messages = append(messages, openai.UserMessage(goOn))
	}
	next, err := ask(j.Next, messages, new([]string))
	if err == nil {
		a.Next = next.Choices[0].Message.Content
	}
	return err
}

func goResponses(ctx context.Context, j job, a *answer) error {
	client := openai.NewClient(option.WithBaseURL(j.Base+"/v1"), option.WithAPIKey("sk-test"), option.WithMaxRetries(0))
	var tools []openairesponses.ToolUnionParam
	for _, name := range toolNames {
		tools = append(tools, openairesponses.ToolParamOfFunction(name, parameters, false))
	}
	ask := func(body openairesponses.ResponseNewParams, seen *[]string) (r *openairesponses.Response, err error) {
		body.Tools = tools
		if !j.Stream {
			return client.Responses.New(ctx, body)
		}
		stream := client.Responses.NewStreaming(ctx, body)
		for stream.Next() {
			switch e := stream.Current().AsAny().(type) {
			case openairesponses.ResponseOutputItemAddedEvent:
				if e.Item.Type == "function_call" {
					*seen = append(*seen, e.Item.Name)
				}
			case openairesponses.ResponseCompletedEvent:
				r = &e.Response
			case openairesponses.ResponseIncompleteEvent:
				r = &e.Response
			case openairesponses.ResponseFailedEvent:
				r = &e.Response
			case openairesponses.ResponseErrorEvent:
				return nil, fmt.Errorf("%s: %s", e.Code, e.Message)
			}
		}
		if err := stream.Err(); err != nil {
			return nil, err
		}
		if r == nil {
			return nil, fmt.Errorf("no terminal event")
		}
		return r, nil
	}
	input := openairesponses.ResponseInputParam{openairesponses.ResponseInputItemParamOfMessage(question, openairesponses.EasyInputMessageRoleUser)}
	r, err := ask(openairesponses.ResponseNewParams{Model: j.Model, Input: openairesponses.ResponseNewParamsInputUnion{OfInputItemList: input}}, &a.Seen)
	if err != nil {
		return err
	}
	a.Text, a.Finish = r.OutputText(), string(r.Status)
	if n := int(r.Usage.OutputTokens); n > 0 {
		a.Tokens = &n
	}
	var results openairesponses.ResponseInputParam
	for _, item := range r.Output {
		if item.Type == "function_call" {
			a.Calls = append(a.Calls, toolCall{item.CallID, item.Name, item.Arguments.OfString})
			output := openairesponses.ResponseInputItemParamOfFunctionCallOutput(result)
			output.OfFunctionCallOutput.CallID = openai.String(item.CallID)
			results = append(results, output)
		}
	}
	if j.Next == "" {
		return nil
	}
	if len(results) == 0 {
		results = append(results, openairesponses.ResponseInputItemParamOfMessage(goOn, openairesponses.EasyInputMessageRoleUser))
	}
	body := openairesponses.ResponseNewParams{Model: j.Next}
	if j.Continued {
		body.PreviousResponseID = openai.String(r.ID)
		body.Input.OfInputItemList = results
	} else {
		for _, item := range r.Output {
			switch item.Type {
			case "message":
				m := item.AsMessage().ToParam()
				input = append(input, openairesponses.ResponseInputItemUnionParam{OfOutputMessage: &m})
			case "function_call":
				c := item.AsFunctionCall().ToParam()
				input = append(input, openairesponses.ResponseInputItemUnionParam{OfFunctionCall: &c})
			}
		}
		body.Input.OfInputItemList = append(input, results...)
	}
	next, err := ask(body, new([]string))
	if err == nil {
		a.Next = next.OutputText()
	}
	return err
}

func goMessages(ctx context.Context, j job, a *answer) error {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(j.Base), anthropicoption.WithAPIKey("sk-test"), anthropicoption.WithMaxRetries(0))
	var tools []anthropic.ToolUnionParam
	for _, name := range toolNames {
		tools = append(tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: name, InputSchema: anthropic.ToolInputSchemaParam{
			Properties: parameters["properties"], Required: []string{"path"}}}})
	}
	ask := func(model string, messages []anthropic.MessageParam, seen *[]string) (*anthropic.Message, error) {
		body := anthropic.MessageNewParams{Model: anthropic.Model(model), Messages: messages, Tools: tools, MaxTokens: 1000}
		if !j.Stream {
			return client.Messages.New(ctx, body)
		}
		stream := client.Messages.NewStreaming(ctx, body)
		var whole anthropic.Message
		for stream.Next() {
			event := stream.Current()
			if err := whole.Accumulate(event); err != nil {
				return &whole, err
			}
			if event.Type == "content_block_start" && event.ContentBlock.Type == "tool_use" {
				*seen = append(*seen, event.ContentBlock.Name)
			}
		}
		return &whole, stream.Err()
	}
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))}
	message, err := ask(j.Model, messages, &a.Seen)
	var results []anthropic.ContentBlockParamUnion
	if message != nil {
		for _, b := range message.Content {
			switch b.Type {
			case "text":
				a.Text += b.Text
			case "tool_use":
				a.Calls = append(a.Calls, toolCall{b.ID, b.Name, string(b.Input)})
				results = append(results, anthropic.NewToolResultBlock(b.ID, result, false))
			}
		}
		a.Finish = string(message.StopReason)
		if n := int(message.Usage.OutputTokens); n > 0 {
			a.Tokens = &n
		}
	}
	if err != nil || j.Next == "" {
		return err
	}
	if len(results) == 0 {
		results = append(results, anthropic.NewTextBlock(goOn))
	}
	messages = append(messages, message.ToParam(), anthropic.NewUserMessage(results...))
	next, err := ask(j.Next, messages, new([]string))
	if err == nil {
		for _, b := range next.Content {
			a.Next += b.Text
		}
	}
	return err
}
