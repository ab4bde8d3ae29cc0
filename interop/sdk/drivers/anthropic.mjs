// The Anthropic library for Node.
import Anthropic from '@anthropic-ai/sdk'
import { names, parameters, question, result, serve } from './serve.mjs'

const tools = names.map((name) => ({ name, input_schema: parameters }))

async function messages(job, answer) {
  const client = new Anthropic({ baseURL: job.base, apiKey: 'sk-test', maxRetries: 0 })
  const ask = async (model, messages, answer) => {
    const body = { model, messages, tools, max_tokens: 1000 }
    if (!job.stream) return client.messages.create(body)
    const stream = client.messages.stream(body)
    stream.on('contentBlock', (block) => block.type === 'tool_use' && answer.seen.push(block.name))
    for await (const event of stream) {
      if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') answer.seen.push(event.content_block.name)
    }
    return stream.finalMessage()
  }
  const history = [{ role: 'user', content: question }]
  const message = await ask(job.model, history, answer)
  const calls = message.content.filter((block) => block.type === 'tool_use')
  answer.text = message.content.filter((block) => block.type === 'text').map((block) => block.text).join('')
  answer.finish = message.stop_reason
  answer.calls = calls.map((c) => ({ id: c.id, name: c.name, args: JSON.stringify(c.input) }))
  answer.tokens = message.usage.output_tokens
  if (!job.next) return
  history.push({ role: 'assistant', content: message.content })
  const results = calls.map((c) => ({ type: 'tool_result', tool_use_id: c.id, content: result }))
  history.push({ role: 'user', content: results.length ? results : 'Go on.' })
  const next = await ask(job.next, history, { seen: [] })
  answer.next = next.content.map((block) => block.text).join('')
}

serve({ messages })
