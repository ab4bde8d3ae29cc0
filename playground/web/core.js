// The decision core in a worker. It works on one state at a time, and only the newest of the others
// waits. A state that takes long is abandoned for a newer one, or after the patience of the page.

const superseded = 1500; // milliseconds after which a newer state ends the work on an older one
const patience = 20000; // milliseconds after which work ends in any case

// The only script that a worker may run: the policy has no other URL.
const scripts = self.trustedTypes
  ? self.trustedTypes.createPolicy('worker', { createScriptURL: () => 'worker.js' })
  : { createScriptURL: () => 'worker.js' };

/** Loads and compiles the core. progress receives the bytes that have arrived. */
export async function load(progress) {
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function') {
    throw new Error('This browser has no WebAssembly or no DecompressionStream, which the playground needs. Use stopgate decide on the command line.');
  }
  const response = await fetch('stopgate.wasm.gz');
  if (!response.ok) throw new Error(`The decision core cannot be loaded: HTTP status ${response.status}.`);
  const pieces = [];
  let size = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    progress(size);
  }
  let bytes = new Blob(pieces).stream();
  // A server that marks the file as compressed lets the browser decompress it.
  if (pieces[0]?.[0] === 0x1f) bytes = bytes.pipeThrough(new DecompressionStream('gzip'));
  const module = await WebAssembly.compileStreaming(new Response(bytes, { headers: { 'Content-Type': 'application/wasm' } }));
  return { module, size };
}

export class Core {
  #module;
  #worker;
  #ready = false;
  #busy = null; // the state in work: { id, since, timer }
  #next = null; // the state that waits
  #id = 0;
  #on;

  /** on has reply(reply), busy(is), failed(text). */
  constructor(module, on) {
    this.#module = module;
    this.#on = on;
    this.#start();
  }

  /** Evaluates a state, unless a newer one comes first. */
  evaluate(state) {
    this.#next = { id: ++this.#id, state };
    if (this.#busy && performance.now() - this.#busy.since > superseded) this.#restart();
    this.#send();
  }

  /** Ends the work on a state. */
  cancel() {
    if (!this.#busy) return;
    this.#restart();
    this.#send();
  }

  #start() {
    this.#ready = false;
    this.#worker = new Worker(scripts.createScriptURL('worker.js'));
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (event) => this.#fail(event.message || 'the worker failed');
    this.#worker.postMessage({ module: this.#module });
  }

  #restart() {
    this.#worker.terminate();
    this.#idle();
    this.#start();
  }

  #idle() {
    clearTimeout(this.#busy?.timer);
    this.#busy = null;
    this.#on.busy(false);
  }

  #send() {
    if (!this.#ready || this.#busy || !this.#next) return;
    const timer = setTimeout(() => {
      this.cancel();
      this.#on.failed(`The decision core was stopped after ${patience / 1000} seconds. Make the policy or the arguments smaller, or use the command line.`);
    }, patience);
    this.#busy = { id: this.#next.id, since: performance.now(), timer };
    this.#worker.postMessage(this.#next);
    this.#next = null;
    this.#on.busy(true);
  }

  #receive(data) {
    if (data.failed) return this.#fail(data.failed);
    if (data.ready) this.#ready = true;
    else if (data.id === this.#busy?.id) {
      this.#idle();
      this.#on.reply(data);
    }
    this.#send();
  }

  #fail(why) {
    this.#restart();
    this.#on.failed(`The decision core failed and was started again: ${why}.`);
  }
}
