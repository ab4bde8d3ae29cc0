"""Runs stopgate as its users do, with nothing but the standard library.

A script gets the path of the built program as its argument. What it expects is written as
`expect(got, want, what)`; the first difference ends it with exit code 1.
"""

import contextlib
import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "stopgate"
WAIT = 30  # seconds until an answer counts as missing


def expect(got, want, what):
    if got != want:
        sys.exit(f"{what}:\n  got  {got!r}\n  want {want!r}")


@contextlib.contextmanager
def home():
    """A directory in which nothing of the user's is seen."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        os.environ.update(HOME=d, XDG_STATE_HOME=f"{d}/state", XDG_CONFIG_HOME=f"{d}/config", XDG_RUNTIME_DIR=d)
        try:
            yield d
        finally:
            os.chdir(before)


def write(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def run(*args):
    """Runs a command and returns its exit code, standard output and standard error."""
    p = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=WAIT, check=False)
    return p.returncode, p.stdout, p.stderr


def decide(policy, tool, args, *more):
    """Returns what `stopgate decide` answers: arguments are a value, or text as a model wrote it."""
    text = args if isinstance(args, str) else json.dumps(args)
    _, out, err = run("decide", "--policy", policy, "--tool", tool, "--args", text, "--format", "json", *more)
    return json.loads(out or sys.exit(err))


class Socket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("stopgate", timeout=WAIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(WAIT)
        self.sock.connect(self.path)


class Gate:
    """A process of `stopgate up` with a policy, in front of a provider."""

    def __init__(self, policy, provider="http://127.0.0.1:9", **env):
        write("stopgate.toml", policy)
        with contextlib.suppress(FileNotFoundError):
            os.remove("audit.jsonl")
        self.process = subprocess.Popen(
            [PROGRAM, "up", "--policy", "stopgate.toml", "--listen", "127.0.0.1:0", "--api-socket", "api.sock",
             "--store", "memory", "--audit", "audit.jsonl", "--openai-upstream", provider + "/v1"],
            stdout=subprocess.PIPE, stderr=open("up.log", "w", encoding="utf-8"), text=True, env={**os.environ, **env})
        line = self.process.stdout.readline()
        self.gateway = json.loads(line or sys.exit(open("up.log", encoding="utf-8").read()))["gateway"].removeprefix("http://")

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(WAIT)
        self.process.stdout.close()
        if not failure[0]:
            expect(code, 0, "exit code of stopgate up")

    def api(self, method, path, body=None, token=None):
        """Asks the decision API, and returns the answer's JSON."""
        c = Socket("api.sock")
        headers = {"Authorization": "Bearer " + token} if token else {}
        c.request(method, path, None if body is None else json.dumps(body), headers)
        answer = c.getresponse().read()
        c.close()
        return json.loads(answer) if answer else None

    def call(self, tool, args, **facts):
        return self.api("POST", "/v1/calls", {"tool": tool, "args": args, **facts})

    def ran(self, answer, data="", failed=False):
        """Reports the result of an allowed call."""
        expect(answer["status"], "allowed", f"status of a call that is to run: {answer}")
        return self.api("POST", f"/v1/calls/{answer['id']}/result", {"data": data, "failed": failed})

    @contextlib.contextmanager
    def watching(self, token):
        """Is somebody who can answer, and gives the lists of open questions."""
        c = Socket("api.sock")
        c.request("GET", "/v1/approvals/watch", None, {"Authorization": "Bearer " + token})
        answer = c.getresponse()
        try:
            yield (json.loads(line)["approvals"] for line in iter(answer.readline, b"") if line.strip())
        finally:
            answer.close()
            c.close()

    def rows(self):
        """The rows of the audit log so far."""
        with open("audit.jsonl", encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def stream(self, head):
        """Opens a call whose arguments arrive in pieces."""
        return Arriving(head)

    def ask(self, messages, tools, stream=True, **more):
        """Asks the gateway as a client of Chat Completions, and returns the answer's text."""
        c = http.client.HTTPConnection(self.gateway, timeout=WAIT)
        body = {"model": "m", "stream": stream, "messages": messages,
                "tools": [{"type": "function", "function": {"name": t, "parameters": {"type": "object"}}} for t in tools], **more}
        c.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        text = c.getresponse().read().decode()
        c.close()
        return text


class Arriving:
    """A request whose body is still being written, while the lines of the answer are read."""

    def __init__(self, head):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(WAIT)
        self.socket.connect("api.sock")
        self.socket.sendall(b"POST /v1/calls/stream HTTP/1.1\r\nHost: stopgate\r\nPrefer: wait=30\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.write(json.dumps(head) + "\n")
        self.answer = None

    def write(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        self.socket.sendall(b"0\r\n\r\n")

    def line(self):
        """The next line of the answer, None at its end."""
        if self.answer is None:
            self.answer = http.client.HTTPResponse(self.socket)
            self.answer.begin()
        text = self.answer.readline()
        return json.loads(text) if text else None

    def close(self):
        if self.answer is not None:
            self.answer.close()
        self.socket.close()


class Provider:
    """A provider of Chat Completions that says what a function writes: f(request, send), where
    send(delta, finish=None) sends one event and fails once the client is gone."""

    def __init__(self, speak):
        provider = self
        self.requests, self.cancelled = [], threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.requests.append(request)
                whole = speak(request, self.send)
                if whole is not None:
                    body = json.dumps(whole).encode()
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                self.event("[DONE]")
                self.wfile.write(b"0\r\n\r\n")

            def send(self, delta, finish=None):
                if not getattr(self, "begun", False):
                    self.begun = True
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                self.event(json.dumps({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                                       "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))

            def event(self, data):
                text = f"data: {data}\n\n".encode()
                try:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
                    self.wfile.flush()
                except OSError:
                    provider.cancelled.set()
                    raise

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # the gateway closed the connection

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def call(index, name, arguments):
    """A delta that begins a tool call."""
    return {"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}]}


def more(index, arguments):
    """A delta that continues it."""
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def seen(text):
    """What a client reads in a streamed answer: its text, its calls as (name, arguments), and why it ended."""
    words, calls, finish = "", {}, None
    for line in text.splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:]).get("choices", []):
            delta = choice["delta"]
            words += delta.get("content") or ""
            finish = choice.get("finish_reason") or finish
            for c in delta.get("tool_calls", []):
                name, args = calls.get(c["index"], ("", ""))
                f = c["function"]
                calls[c["index"]] = (name + (f.get("name") or ""), args + (f.get("arguments") or ""))
    return words, list(calls.values()), finish
