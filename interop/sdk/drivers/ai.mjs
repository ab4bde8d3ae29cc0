// Vercel's ai with its three providers. The tools have an execute function, as in
// real programs: what it is called for is what would have run.
import { generateText, isStepCount, streamText, tool, jsonSchema } from 'ai'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { names, parameters, question, result, serve } from './serve.mjs'

function run(model) {
  return async (job, answer) => {
    const tools = Object.fromEntries(names.map((name) => [name, tool({
      inputSchema: jsonSchema(parameters),
      execute: async (input, { toolCallId }) => {
        answer.calls.push({ id: toolCallId, name, args: JSON.stringify(input) })
        return JSON.parse(result)
      },
    })]))
    const options = { model: model(job, job.model), tools, messages: [{ role: 'user', content: question }], maxRetries: 0, stopWhen: isStepCount(1) }
    if (!job.stream) {
      const r = await generateText(options)
      for (const c of r.toolCalls) answer.seen.push(c.toolName)
      answer.text = r.text
      answer.finish = r.finishReason
      answer.tokens = r.usage.outputTokens
      return
    }
    let failed
    const r = streamText({ ...options, onError: ({ error }) => { failed = error } })
    for await (const part of r.fullStream) {
      if (part.type === 'text-delta') answer.text += part.text
      if (part.type === 'tool-input-start' || part.type === 'tool-call') answer.seen.push(part.toolName)
      if (part.type === 'error') failed = part.error
      if (part.type === 'finish') {
        answer.finish = part.finishReason
        answer.tokens = part.totalUsage?.outputTokens
      }
    }
    if (failed) throw failed
  }
}

const openai = (job) => createOpenAI({ baseURL: job.base + '/v1', apiKey: 'sk-test' })
serve({
  chat: run((job, name) => openai(job).chat(name)),
  responses: run((job, name) => openai(job).responses(name)),
  compatible: run((job, name) => createOpenAICompatible({ name: 'gate', baseURL: job.base + '/v1', apiKey: 'sk-test' })(name)),
  messages: run((job, name) => createAnthropic({ baseURL: job.base + '/v1', apiKey: 'sk-test' })(name)),
})
