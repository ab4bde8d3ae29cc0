"""The Tool Policy Specification: session policies, in a policy file, over the decision API."""

from kit import Gate, expect, home

POLICY = """version = 1
[gate]
unknown_params = "allow"
uncovered = "allow"
[tools]
"*" = { policy = { run = "unattended" } }
lint = {}
test = {}
build = {}
deploy = {}
commit = {}
read_file = {}
write_file = {}
approve_pr = {}
merge_pr = {}
fetch_document = {}
update_document = {}

[[session]]                     # SequentialDependencyPolicy
type = "require"
before = "deploy"
requires = ["test", "build"]

[[session]]
type = "require"
before = "build"
requires = "lint"

[[session]]                     # KeyedDependencyPolicy
type = "require"
before = "commit"
requires = ["lint", "test"]
require = "any"
key = "/repo"
on_missing_key = "allow"

[[session]]                     # ReadBeforeWritePolicy
type = "read_before_write"
read_tools = ["read_file"]
write_tools = ["write_file"]

[[session]]                     # ReviewBeforeMergePolicy, ConditionalPolicy
type = "require"
before = "merge_pr"
requires = "approve_pr"
key = "/pr_id"
when = { session = "/mode", const = "strict" }

[[session]]                     # custom names
type = "read_before_write"
read_tools = ["fetch_document"]
write_tools = ["update_document"]

[api.tokens.op]
scopes = ["operate", "decide", "observe"]
env = "OP_TOKEN"
"""
TOKEN = "3d1c3a7e5b9f48c2"

with home(), Gate(POLICY, OP_TOKEN=TOKEN) as gate:
    turn = 0

    def propose(tool, args=None, session="s"):
        """One call in a turn of its own."""
        global turn
        turn += 1
        return gate.call(tool, args or {}, session=session, turn=f"t{turn}")

    def succeed(tool, args=None, session="s"):
        gate.ran(propose(tool, args, session), "done")

    def denied(code, tool, args=None, session="s"):
        answer = propose(tool, args, session)
        expect((answer["status"], answer["verdict"]["code"] if "verdict" in answer else answer["code"]), ("denied", code), f"{tool} {args}")
        return answer

    # lint -> build -> deploy, and test before deploy. A failed call is none.
    text = str(denied("prerequisite_missing", "deploy"))
    expect("build" in text and "test" in text, True, "the missing tools are named: " + text)
    denied("prerequisite_missing", "build")
    gate.ran(propose("lint"), "3 problems", failed=True)
    denied("prerequisite_missing", "build")
    succeed("lint")
    succeed("build")
    denied("prerequisite_missing", "deploy")
    succeed("test")
    succeed("deploy")

    # Another session knows nothing of it.
    denied("prerequisite_missing", "deploy", session="other")

    # The same key, and no key.
    denied("prerequisite_missing", "commit", {"repo": "a"})
    succeed("test", {"repo": "a"})
    succeed("commit", {"repo": "a"})
    denied("prerequisite_missing", "commit", {"repo": "b"})
    succeed("commit")

    # read_file(X), write_file(X); not write_file(Y).
    denied("read_required", "write_file", {"path": "config.yaml"})
    succeed("read_file", {"path": "config.yaml"})
    succeed("write_file", {"path": "config.yaml"})
    succeed("write_file", {"path": "./config.yaml"})
    denied("read_required", "write_file", {"path": "other.yaml"})
    denied("key_unavailable", "write_file", {})
    denied("read_required", "update_document", {"path": "a"})
    succeed("fetch_document", {"path": "a"})
    succeed("update_document", {"path": "a"})

    # Of two calls in one turn the second cannot lean on the first.
    first = gate.call("read_file", {"path": "x"}, session="s", turn="one")
    second = gate.call("write_file", {"path": "x"}, session="s", turn="one")
    expect((first["status"], second["status"]), ("allowed", "denied"), "calls of one turn")

    # Only where the session is strict.
    succeed("merge_pr", {"pr_id": 7})
    gate.api("PUT", "/v1/sessions/s/data?principal=local", {"mode": "strict"}, token=TOKEN)
    denied("prerequisite_missing", "merge_pr", {"pr_id": 7})
    succeed("approve_pr", {"pr_id": 8})
    denied("prerequisite_missing", "merge_pr", {"pr_id": 7})
    succeed("merge_pr", {"pr_id": 8})

    # Snapshot and restore: what permitted since is taken back.
    snapshot = gate.api("POST", "/v1/sessions/s/snapshot?principal=local", token=TOKEN)
    succeed("read_file", {"path": "late.yaml"})
    succeed("write_file", {"path": "late.yaml"})
    gate.api("POST", "/v1/sessions/s/restore?principal=local", snapshot, token=TOKEN)
    denied("read_required", "write_file", {"path": "late.yaml"})
    succeed("write_file", {"path": "config.yaml"})

    denials = [r for r in gate.rows() if r["kind"] == "decision" and r["status"] == "denied"]
    expect(all(r.get("session") for r in denials) and len(denials) > 10, True, "every denial is recorded with its session")
