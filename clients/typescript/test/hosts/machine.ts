/** A home with its own copy of the program `stopgate`, so that a test can end everything that the copy runs. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder clients of the repository. The tests run from clients/typescript/test/hosts or its folder build. */
export const CLIENTS = resolve(import.meta.dirname, import.meta.dirname.endsWith("build") ? "../../../.." : "../../..");
export const POLICY = join(CLIENTS, "testdata", "adapters.toml");
export const ROWS = join(CLIENTS, "build", "cases");

/** Returns the built program: STOPGATE_BINARY, else clients/build/stopgate. */
function built(): string {
  const path = process.env["STOPGATE_BINARY"] ?? join(CLIENTS, "build", "stopgate");
  if (!existsSync(path)) throw new Error(`${path} does not exist: go build -o clients/build/stopgate ./cmd/stopgate, or set STOPGATE_BINARY`);
  return path;
}

/** Directories of one test, and the processes of its copy of the program. The path is short: sockets have at most 107 bytes. */
export class Machine {
  readonly home = mkdtempSync("/tmp/sg-");
  readonly project = join(this.home, "project");
  readonly binary = join(this.home, "stopgate");

  constructor() {
    for (const name of ["project", "run", "state", "config", "cache"]) mkdirSync(join(this.home, name), { mode: 0o700 });
    copyFileSync(built(), this.binary);
  }

  /** Returns the variables that keep state, sockets and settings below the home. */
  environment(): Record<string, string> {
    return {
      HOME: this.home,
      XDG_RUNTIME_DIR: join(this.home, "run"),
      XDG_STATE_HOME: join(this.home, "state"),
      XDG_CONFIG_HOME: join(this.home, "config"),
      XDG_CACHE_HOME: join(this.home, "cache"),
    };
  }

  /** Ends every process of the copy and removes it: no gate is left, and none can start. */
  kill(): void {
    if (existsSync(this.binary)) {
      renameSync(this.binary, `${this.binary}.gone`);
      chmodSync(`${this.binary}.gone`, 0o600);
    }
    const deadline = Date.now() + 10_000;
    for (let left = this.processes(); left.length > 0; left = this.processes()) {
      for (const pid of left) end(pid);
      if (Date.now() > deadline) throw new Error(`processes of ${this.binary} do not end: ${left.join(", ")}`);
    }
  }

  /** Ends the copy's processes and removes the home. */
  remove(): void {
    this.kill();
    rmSync(this.home, { recursive: true, force: true });
  }

  private processes(): number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && program(name).startsWith(`${this.home}/`))
      .map(Number);
  }
}

/** Returns the program file of a process, "" where it has ended or cannot be seen. */
function program(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return "";
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
