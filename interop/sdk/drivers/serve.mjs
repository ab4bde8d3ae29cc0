// Answers jobs: one JSON object a line on standard input, one a line on standard
// output. A handler gets the job and returns what the library showed its user.
import readline from 'node:readline'

export function serve(handlers) {
  const lines = readline.createInterface({ input: process.stdin })
  lines.on('line', async (line) => {
    const job = JSON.parse(line)
    const answer = { job: job.job, text: '', calls: [], seen: [], finish: '' }
    try {
      await handlers[job.client](job, answer)
    } catch (e) {
      answer.error = `${e?.name}: ${e?.message ?? e}`.slice(0, 2000)
    }
    process.stdout.write(JSON.stringify(answer) + '\n')
  })
}

// The tools that every request declares: their only argument is a path.
export const names = ['a', 'b', 'c']
export const parameters = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
}
export const question = 'Do what has to be done.'
export const result = '{"done":true}'
