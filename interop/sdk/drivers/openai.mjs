// The openai library for Node: Chat Completions and Responses.
import OpenAI from 'openai'
import { names, parameters, question, result, serve } from './serve.mjs'

const connect = (job) => new OpenAI({ baseURL: job.base + '/v1', apiKey: 'sk-test', maxRetries: 0 })

const chatTools = names.map((name) => ({ type: 'function', function: { name, parameters } }))

async function chat(job, answer) {
  const client = connect(job)
  const ask = async (model, messages, answer) => {
    const body = { model, messages, tools: chatTools, ...(job.choices && { n: job.choices }) }
    if (!job.stream) return client.chat.completions.create(body)
    const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } })
    stream.on('tool_calls.function.arguments.done', (call) => answer.seen.push(call.name))
    for await (const chunk of stream) {
      for (const choice of chunk.choices ?? []) {
        for (const call of choice.delta?.tool_calls ?? []) if (call.function?.name) answer.seen.push(call.function.name)
      }
    }
    return stream.finalChatCompletion()
  }
  const messages = [{ role: 'user', content: question }]
  const completion = await ask(job.model, messages, answer)
  for (const { message, finish_reason } of completion.choices) {
    answer.text += message.content ?? ''
    answer.finish = finish_reason
    for (const c of message.tool_calls ?? []) answer.calls.push({ id: c.id, name: c.function.name, args: c.function.arguments })
  }
  if (completion.usage) answer.tokens = completion.usage.completion_tokens
  if (!job.next) return
  const { message } = completion.choices[0]
  messages.push(message)
  for (const c of message.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: c.id, content: result })
  if (!message.tool_calls?.length) messages.push({ role: 'user', content: 'Go on.' })
  const next = await ask(job.next, messages, { seen: [] })
  answer.next = next.choices[0].message.content
}

const responsesTools = names.map((name) => ({ type: 'function', name, parameters, strict: false }))

async function responses(job, answer) {
  const client = connect(job)
  const ask = async (model, input, extra, answer) => {
    const body = { model, input, tools: responsesTools, ...extra }
    if (!job.stream) return client.responses.create(body)
    const stream = client.responses.stream(body)
    for await (const event of stream) {
      if (event.item?.type === 'function_call') answer.seen.push(event.item.name)
    }
    return stream.finalResponse()
  }
  const input = [{ role: 'user', content: question }]
  const response = await ask(job.model, input, {}, answer)
  const calls = response.output.filter((item) => item.type === 'function_call')
  answer.text = response.output_text
  answer.finish = response.status
  answer.calls = calls.map((c) => ({ id: c.call_id, name: c.name, args: c.arguments }))
  answer.tokens = response.usage?.output_tokens
  if (!job.next) return
  const results = calls.map((c) => ({ type: 'function_call_output', call_id: c.call_id, output: result }))
  if (!results.length) results.push({ role: 'user', content: 'Go on.' })
  const next = job.continued
    ? await ask(job.next, results, { previous_response_id: response.id }, { seen: [] })
    : await ask(job.next, [...input, ...response.output, ...results], {}, { seen: [] })
  answer.next = next.output_text
}

serve({ chat, responses })
