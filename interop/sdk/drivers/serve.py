"""Answers jobs: one JSON object a line on standard input, one a line on standard output."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

NAMES = ["a", "b", "c"]
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
QUESTION = "Do what has to be done."
RESULT = '{"done":true}'

_lock = threading.Lock()


def _work(handlers, job):
    answer = {"job": job["job"], "text": "", "calls": [], "seen": [], "finish": ""}
    try:
        handlers[job["client"]](job, answer)
    except Exception as e:  # whatever a library raises is what the test looks at
        answer["error"] = f"{type(e).__name__}: {e}"[:2000]
    with _lock:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def serve(handlers):
    with ThreadPoolExecutor(4) as pool:
        for line in sys.stdin:
            pool.submit(_work, handlers, json.loads(line))
