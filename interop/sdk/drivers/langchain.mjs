// LangChain for Node, over its OpenAI and Anthropic models.
import { ChatAnthropic } from '@langchain/anthropic'
import { concat } from '@langchain/core/utils/stream'
import { ChatOpenAI } from '@langchain/openai'
import { names, parameters, question, serve } from './serve.mjs'

const tools = names.map((name) => ({ type: 'function', function: { name, description: name, parameters } }))

function run(model, finish) {
  return async (job, answer) => {
    const llm = model(job).bindTools(tools)
    let message
    if (job.stream) {
      for await (const chunk of await llm.stream(question)) {
        for (const c of chunk.tool_call_chunks ?? []) if (c.name) answer.seen.push(c.name)
        message = message ? concat(message, chunk) : chunk
      }
    } else {
      message = await llm.invoke(question)
    }
    answer.text = message.text
    answer.calls = message.tool_calls.map((c) => ({ id: c.id, name: c.name, args: JSON.stringify(c.args) }))
    if (message.invalid_tool_calls?.length) throw new Error('invalid tool calls: ' + JSON.stringify(message.invalid_tool_calls))
    answer.finish = finish(message) ?? ''
  }
}

const options = (job) => ({ model: job.model, apiKey: 'sk-test', maxRetries: 0 })
serve({
  chat: run((job) => new ChatOpenAI({ ...options(job), configuration: { baseURL: job.base + '/v1' } }), (m) => m.response_metadata.finish_reason),
  responses: run((job) => new ChatOpenAI({ ...options(job), useResponsesApi: true, configuration: { baseURL: job.base + '/v1' } }), (m) => m.response_metadata.status),
  messages: run((job) => new ChatAnthropic({ ...options(job), anthropicApiUrl: job.base }), (m) => m.additional_kwargs.stop_reason ?? m.response_metadata.stop_reason),
})
