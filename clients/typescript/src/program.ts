/** Finds the program `stopgate`. It is trusted because it is started from a file that is named here. */

import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import { ProgramMissing } from "./errors.js";

/** The path of the program: the given one, that of the package for this system, or one of PATH. */
export function findProgram(binary?: string): string {
  if (binary !== undefined) {
    const path = resolve(binary);
    if (!isProgram(path)) throw new ProgramMissing(`${path} is not a program that can run`);
    return path;
  }
  const found = fromPackage() ?? fromPath();
  if (found !== undefined) return found;
  throw new ProgramMissing(
    `the program stopgate was not found. Name it, local({ binary: "/path/to/stopgate" }); or install its package, ` +
      `npm install ${packageName()}; or put it into a directory of PATH`,
  );
}

function packageName(): string {
  return `@stopgate/cli-${process.platform}-${process.arch}`;
}

function fromPackage(): string | undefined {
  try {
    const path = join(dirname(createRequire(import.meta.url).resolve(`${packageName()}/package.json`)), "bin", "stopgate");
    return isProgram(path) ? path : undefined;
  } catch {
    return undefined; // not installed
  }
}

/** Relative entries of PATH are ignored: the working directory may belong to the agent. */
function fromPath(): string | undefined {
  const directories = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return directories.map((directory) => join(directory, "stopgate")).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
