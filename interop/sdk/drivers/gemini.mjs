// Google's library for Node.
import { GoogleGenAI } from '@google/genai'
import { names, parameters, question, result, serve } from './serve.mjs'

const tools = [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: parameters })) }]

async function gemini(job, answer) {
  const ai = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: job.base } })
  const ask = async (name, contents, answer) => {
    const body = { model: name.replace('/', '~'), contents, config: { tools } }
    if (!job.stream) {
      const { candidates, usageMetadata } = await ai.models.generateContent(body)
      return { parts: candidates[0].content.parts, finish: candidates[0].finishReason, usage: usageMetadata }
    }
    const whole = { parts: [] }
    for await (const chunk of await ai.models.generateContentStream(body)) {
      const candidate = chunk.candidates?.[0]
      for (const part of candidate?.content?.parts ?? []) {
        whole.parts.push(part)
        if (part.functionCall) answer.seen.push(part.functionCall.name)
      }
      if (candidate?.finishReason) whole.finish = candidate.finishReason
      if (chunk.usageMetadata) whole.usage = chunk.usageMetadata
    }
    return whole
  }
  const text = (parts) => parts.filter((p) => !p.thought).map((p) => p.text ?? '').join('')
  const contents = [{ role: 'user', parts: [{ text: question }] }]
  const whole = await ask(job.model, contents, answer)
  const calls = whole.parts.filter((p) => p.functionCall).map((p) => p.functionCall)
  answer.text = text(whole.parts)
  answer.finish = whole.finish
  answer.calls = calls.map((c) => ({ id: c.id, name: c.name, args: JSON.stringify(c.args) }))
  answer.tokens = whole.usage.candidatesTokenCount
  if (!job.next) return
  contents.push({ role: 'model', parts: whole.parts })
  const results = calls.map((c) => ({ functionResponse: { id: c.id, name: c.name, response: { output: result } } }))
  contents.push({ role: 'user', parts: results.length ? results : [{ text: 'Go on.' }] })
  answer.next = text((await ask(job.next, contents, { seen: [] })).parts)
}

serve({ gemini })
