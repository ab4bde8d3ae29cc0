/**
 * Policies as programs: stopgate asks a service that is written in TypeScript.
 *
 *     import { allow, deny, Service } from "@stopgate/client/policy";
 *
 *     const service = new Service({ version: "1" });
 *     service.gate("delete_*", (call) =>
 *       String(call.args.path).startsWith("/tmp/") ? allow("below_tmp") : deny("outside_tmp", "Only files below /tmp may be deleted."));
 *     await service.serve("unix:///run/user/1000/policy.sock");
 *
 * The table `[[external]]` of a policy file names the socket. Every failure denies: an exception, a return value that is no decision, a tool that no function governs.
 */

export { allow, ask, type Decision, deny, type More, type Opinion, type Word } from "./decision.js";
export { type EventPolicy, type Exchange, type ModelCall, type Output, Rejected } from "./events.js";
export type { Server } from "./server.js";
export { type Call, type Result, Service, type SessionPolicy } from "./service.js";
