"""RFD D25: rules on arguments, in JP's notation and in stopgate's."""

from kit import decide, expect, home, run, write

JP = """
[conversation.tools.'*'.policy]
run = "ask"
result = "unattended"

[conversation.tools.fs_modify_file]
source = "local"
run = "skip"
parameters.path = { type = "path", required = true }
parameters.start_line = { type = "integer" }
parameters.util = { type = "string" }
parameters.regex = { type = "boolean" }

[conversation.tools.fs_modify_file.policy]
run = [
  { arg = "/path", prefix = "src/sensitive/", mode = "ask" },
  { arg = "/regex", const = true, mode = "edit" },
  { arg = "/start_line", minimum = 1000, mode = "ask" },
  { arg = "/util", enum = ["date", "wc"], mode = "skip" },
  { arg = "/util", pattern = "^rm", mode = "ask" },
  { arg = "/path", prefix = "src/", mode = "unattended" },
]

[conversation.tools.fs_patch]
source = "local"
parameters.patterns = { type = "array", items = { type = "object", properties = { paths = { type = "array", items = { type = "path" } } } } }
policy.run = [
  { arg = "/patterns/paths", prefix = ".env", mode = "skip" },
  { arg = "/patterns/paths", prefix = "src/", mode = "unattended" },
]
"""

with home():
    write("config.toml", JP)
    code, _, report = run("import", "jp", "config.toml", "-o", "stopgate.toml")
    expect(code, 0, report)
    expect("policy.run takes precedence" in report, True, "an older spelling is reported")
    expect(run("check", "--strict", "stopgate.toml")[0], 0, "the policy passes a strict check")

    for args, want in [
        ({"path": "src/lib.rs"}, "unattended"),
        ({"path": "src/sensitive/secret.rs"}, "ask"),
        ({"path": "README.md"}, "ask"),                      # no rule matches
        ({"path": "src-old/lib.rs"}, "ask"),                 # components, not bytes
        ({"path": "src/./a/../lib.rs"}, "unattended"),       # normalised
        ({"path": "src/../.env"}, "ask"),
        ({"path": "src/a", "regex": True}, "edit"),
        ({"path": "src/a", "start_line": 1000}, "ask"),      # the bound is included
        ({"path": "src/a", "start_line": 999}, "unattended"),
        ({"path": "src/a", "util": "wc"}, "skip"),
        ({"path": "src/a", "util": "rm"}, "ask"),
    ]:
        expect(decide("stopgate.toml", "fs_modify_file", args)["mode"], want, str(args))

    paths = [{"paths": ["src/a"]}, {"paths": ["src/b", ".env"]}]
    got = decide("stopgate.toml", "fs_patch", {"patterns": paths})
    expect((got["mode"], got["pointer"]), ("skip", "/patterns/1/paths/1"), "one element restricts")
    got = decide("stopgate.toml", "fs_patch", {"patterns": [{"paths": ["src/a", "lib/b"]}]})
    expect(got["mode"], "ask", "one element does not permit")
    expect(decide("stopgate.toml", "unheard_of", {})["mode"], "deny", "a tool that nobody declares")

    # Mistakes are found when the policy is read.
    for rules, code in [
        ('{ arg = "/path", prefix = "src/", mode = "ask" }, { arg = "/path", prefix = "src/x/", mode = "skip" }', "SG0301"),
        ('{ arg = "/path", prefix = "src/", mode = "ask" }, { arg = "/path", const = "src/a", mode = "skip" }', "SG0301"),
        ('{ mode = "ask" }, { arg = "/path", const = "a", mode = "skip" }', "SG0301"),
        ('{ arg = "/gone", const = "a", mode = "ask" }, { mode = "ask" }', "/gone"),
        ('{ arg = "/path", minimum = 1, mode = "ask" }, { mode = "ask" }', "minimum"),
        ('{ arg = "/path", const = "a", prefix = "b", mode = "ask" }, { mode = "ask" }', "SG0112"),
    ]:
        write("wrong.toml", 'version = 1\n[tools.t]\nparameters.path = { type = "path" }\npolicy.run = [' + rules + "]\n")
        exit_code, _, err = run("check", "wrong.toml")
        out = run("check", "wrong.toml")[1] + err
        expect((exit_code != 0, code in out), (True, True), rules + "\n" + out)
