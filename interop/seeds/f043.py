"""RFD 043: arguments as they arrive. A reader of the fragment protocol that knows only its page
(docs/reference/fragments.md), and arguments cut at every byte."""

import json
import pathlib

from kit import Gate, expect, home

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "jsonstream" / "testdata" / "fragments"


class Refused(Exception):
    pass


class Reader:
    """Puts the lines of one call together."""

    def __init__(self):
        self.open = []  # containers from the root: [kind, value, key of the member that is open]
        self.text = None  # of the string that is open
        self.value = None  # of the root, once it is done
        self.kinds = {}  # path of what is open -> kind

    def line(self, m):
        if "error" in m:
            raise Refused(m["error"]["code"])
        if self.value is not None:
            raise Refused("a line after the end")
        path = m["path"]
        self.enter(path if "done" in m and m["done"] in ("object", "array") else path[:-1], path)
        if "string" in m:
            self.text = (self.text or "") + m["string"]
        elif "scalar" in m:
            self.text = m["scalar"]
        else:
            self.done(path, m["done"])

    def enter(self, containers, path):
        """Opens the containers on the way to a value: a string in the path is a key, a number a position."""
        for depth in range(len(containers) + (len(path) > len(containers))):
            kind = None
            if depth < len(path):
                kind = "object" if isinstance(path[depth], str) else "array"
            if depth == len(self.open):
                self.open.append([kind, {} if kind != "array" else [], None])
            elif kind and self.open[depth][0] not in (kind, None):
                raise Refused("a member of an array, or an element of an object")

    def done(self, path, kind):
        if kind in ("object", "array"):
            if len(self.open) > len(path):
                found, value, _ = self.open.pop()
                if found not in (kind, None):
                    raise Refused("an end of another kind")
                value = value if found else ({} if kind == "object" else [])
            else:
                value = {} if kind == "object" else []
        else:
            value, self.text = self.text, None
        if not path:
            self.value = value
            return
        parent = self.open[len(path) - 1][1]
        if isinstance(parent, dict):
            if path[-1] in parent:
                raise Refused("duplicate_key")
            parent[path[-1]] = value
        elif path[-1] == len(parent):
            parent.append(value)
        else:
            raise Refused("an element out of order")


def section(text, name):
    """A file of a txtar archive."""
    _, rest = text.split(f"-- {name} --\n", 1)
    return rest.split("\n-- ", 1)[0].strip("\n")


for file in sorted(VECTORS.glob("*.txtar")):
    text = file.read_text(encoding="utf-8")
    calls, refused = {}, {}
    for line in section(text, "fragments.jsonl").splitlines():
        m = json.loads(line)
        try:
            calls.setdefault(m["index"], Reader()).line(m)
        except Refused as e:
            refused[m["index"]] = str(e)
    for want in section(text, "values").splitlines():
        index, value = want.split(" ", 1)
        index = int(index)
        if value.startswith("{") or value.startswith("["):
            expect(calls[index].value, json.loads(value), f"{file.name}: call {index}")
        else:
            expect(f"({refused.get(index)})" in value, True, f"{file.name}: call {index}: {refused.get(index)}, {value}")

POLICY = """version = 1
[tools.t]
parameters.path = { type = "string" }
parameters.n = { type = "number" }
parameters.list = { type = "array" }
policy.run = "unattended"
"""

with home(), Gate(POLICY) as gate:
    def arrive(pieces):
        """The decision about arguments that arrive in pieces."""
        a = gate.stream({"tool": "t", "session": "s"})
        try:
            for piece in pieces:
                a.write(piece)
            a.end()
        except OSError:
            pass  # refused on the way
        last = None
        while (line := a.line()) is not None:
            last = line
        a.close()
        return last["call"]

    # Escapes, characters, numbers and literals are cut everywhere, and the arguments are whole.
    text = '{"path":"a\\n\\u00e9 \\ud83d\\ude00 é 😀","n":-12.5e1,"list":[true,null,{},[],""]}'.encode()
    want = json.loads(text)
    for at in range(1, len(text)):
        expect(arrive([text[:at], text[at:]])["args"], want, f"cut at byte {at}")
    expect(arrive([text[i:i + 1] for i in range(len(text))])["args"], want, "byte by byte")

    # What is not one complete JSON object never runs.
    for pieces, code in [
        (['{"path":"a"', ',"pa\\u0074h":"b"}'], "duplicate_key"),
        (['{"path":"a', '"'], "truncated_arguments"),
        (['{"path":"a"}', "{}"], "trailing_data"),
        (["[1", "]"], "non_object_root"),
        (["{'path", "':1}"], "malformed_arguments"),
        ([b'{"path":"\xc3', b'("}'], "malformed_arguments"),
    ]:
        got = arrive(pieces)
        expect((got["status"], got["code"]), ("denied", code), str(pieces))
