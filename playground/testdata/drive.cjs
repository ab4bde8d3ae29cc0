// Runs the decision core under Node: reads one request per line, [function, ...parameters], where
// texts are base64, and writes the JSON of each answer on a line.
'use strict';
const fs = require('node:fs');
const zlib = require('node:zlib');
const [dir] = process.argv.slice(2);
require(`${dir}/wasm_exec.js`);

(async () => {
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(zlib.gunzipSync(fs.readFileSync(`${dir}/stopgate.wasm.gz`)), go.importObject);
  go.run(instance);
  const out = [];
  for (const line of fs.readFileSync(0, 'utf8').trimEnd().split('\n')) {
    const [name, ...parameters] = JSON.parse(line);
    const began = process.hrtime.bigint();
    const answer = globalThis.stopgatePlayground[name](...parameters.map((p) => typeof p === 'string' ? new Uint8Array(Buffer.from(p, 'base64')) : p));
    out.push(process.env.STOPGATE_TIMES ? `${process.hrtime.bigint() - began} ${name}` : answer);
  }
  fs.writeSync(1, `${out.join('\n')}\n`);
  process.exit(0);
})();
