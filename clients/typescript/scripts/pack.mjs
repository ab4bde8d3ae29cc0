// Packs the client; deploy/release packs the programs that it depends on. The same input gives the same bytes.
//
//	node scripts/pack.mjs --version VERSION --out DIRECTORY
//
// VERSION is the version as deploy/release spells it for npm.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const license = join(root, "../../LICENSE");
const systems = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

const { values } = parseArgs({ options: { version: { type: "string" }, out: { type: "string" } } });
if (values.version === undefined || values.out === undefined) throw new Error("--version and --out are required");
const out = resolve(values.out);
const version = values.version;
mkdirSync(out, { recursive: true });

/** Packs a directory that fill writes. */
function pack(manifest, fill) {
  const directory = mkdtempSync(join(tmpdir(), "pack-"));
  try {
    writeFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    cpSync(license, join(directory, "LICENSE"));
    fill(directory);
    // npm packs modes as they are, which depend on who compiled it.
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", out], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const { devDependencies: _, scripts: __, ...manifest } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const programs = Object.fromEntries(systems.map((system) => [`@stopgate/cli-${system}`, version]));
pack({ ...manifest, version, optionalDependencies: programs }, (directory) => {
  for (const name of ["dist", "README.md"]) cpSync(join(root, name), join(directory, name), { recursive: true });
});
