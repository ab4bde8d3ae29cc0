import { spawn } from "node:child_process";

function ask(event) {
  return new Promise((resolve) => {
    const no = (reason) => resolve({ block: BLOCK, reason });
    const silent = event.event === "tool_result" ? "the result is withheld" : "the call is blocked";
    try {
      const child = spawn(PROGRAM, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"], timeout: TIMEOUT });
      let out = "";
      let err = "";
      child.stdout.on("data", (d) => (out += d));
      child.stderr.on("data", (d) => (err += d));
      child.stdin.on("error", () => {});
      child.on("error", () => no("stopgate did not start: " + silent));
      child.on("close", (code) => {
        if (code === 0 && out.trim() === '{"block":false}') return resolve({ block: false });
        try {
          const said = JSON.parse(out).reason;
          if (said) return no(said);
        } catch {}
        no(err.trim() || "stopgate did not answer: " + silent);
      });
      child.stdin.end(JSON.stringify(event));
    } catch {
      no("stopgate did not start: " + silent);
    }
  });
}
