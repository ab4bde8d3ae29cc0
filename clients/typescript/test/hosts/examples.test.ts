/** Runs the programs of examples/typescript, and compares the code of the pages with them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { CLIENTS, Machine } from "./machine.js";
import { alone, provider } from "./provider.js";
import { type Call, DONE, Script } from "./script.js";

const execute = promisify(execFile);
const examples = join(CLIENTS, "..", "examples");
const hosts = join(CLIENTS, "typescript", "test", "hosts");
const built = join(hosts, "build", "examples");
const reads = "ran: read_order 7\nran: refund 7 20\nasked: refund 120: A person looks at more than 50.\nran: refund 7 120\n";
const refused = "[stopgate] The tool call `refund` was not run: Nobody refunds more than 200 (rule_matched).";

before(async () => {
  for (const name of ["examples", "python"]) mkdirSync(join(hosts, "build", name), { recursive: true });
  for (const name of readdirSync(join(examples, "typescript"))) copyFileSync(join(examples, "typescript", name), join(built, name));
  copyFileSync(join(examples, "python", "shop.toml"), join(hosts, "build", "python", "shop.toml"));
  writeFileSync(join(built, "tsconfig.json"), '{ "extends": "../../tsconfig.json", "compilerOptions": { "rootDir": ".", "outDir": "." }, "include": ["*.ts"], "exclude": [] }');
  await execute(join(hosts, "node_modules", ".bin", "tsc"), ["-p", built]).catch((error: { stdout: string }) => assert.fail(error.stdout));
});

/** Requires that a program prints what the README shows, and `last` at its end. */
async function prints(program: string, last: string, env: Record<string, string | undefined> = {}): Promise<void> {
  const machine = new Machine();
  try {
    const node = program.includes("vercel") ? join(hosts, "node_modules", "node", "bin", "node") : process.execPath;
    const PATH = `${machine.home}:${process.env["PATH"]}`;
    const { stdout } = await execute(node, [join(built, `${program}.js`)], { cwd: machine.project, env: { ...env, ...machine.environment(), PATH }, timeout: 100_000 });
    assert.equal(stdout, `${reads}model: ${last}\n`);
  } finally {
    machine.remove();
  }
}

for (const program of ["shop-openai-agents", "shop-langchain", "shop-vercel-ai", "shop-mcp"]) {
  test(`examples: ${program}`, () => prints(program, refused));
}

test("examples: shop-claude-agent-sdk", async () => {
  const refund = (id: string, amount: number): readonly Call[] => [{ id, tool: "refund", args: { order: "7", amount } }];
  const script = new Script([[{ id: "1", tool: "read_order", args: { order: "7" } }], refund("2", 20), refund("3", 120), refund("4", 900)]);
  await provider(script, "mcp__shop__", (url) => prints("shop-claude-agent-sdk", DONE, alone(url).env));
  assert.ok(script.textOf("4").includes(refused), script.textOf("4"));
});

test("every block of TypeScript on a page is a part of a program", () => {
  const programs = new Map(readdirSync(join(examples, "typescript")).map((name) => [name, lines(readFileSync(join(examples, "typescript", name), "utf8"))]));
  for (const page of ["openai-agents", "langchain", "vercel-ai", "claude-agent-sdk", "mcp"]) {
    const path = join(CLIENTS, "..", "docs", "adapters", `${page}.md`);
    const blocks = [...(existsSync(path) ? readFileSync(path, "utf8") : "").matchAll(/^```typescript\n(.*?)^```/gms)].map(([, block = ""]) => block);
    assert.ok(blocks.length > 0, `${page}.md has no block of TypeScript`);
    for (const block of blocks) for (const part of block.split("\n\n")) assert.ok(programs.get(`shop-${page}.ts`)?.includes(lines(part)), `${page}.md: not in shop-${page}.ts:\n${part}`);
  }
});

function lines(text: string): string {
  return `\n${text.trim().split("\n").map((line) => line.trim()).join("\n")}\n`;
}
