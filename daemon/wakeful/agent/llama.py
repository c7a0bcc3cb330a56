"""The process beside the daemon that holds a local model: llama.cpp's own HTTP server.

It is run as a file, not as a module, so that it loads nothing but the server. It ends when its
standard input does, that is with the daemon, even when that is killed.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

KEY = "WAKEFUL_LOCAL_KEY"
READY = "wakeful-local-model-ready"
THREADS = 2


def main() -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    path, port, context = sys.argv[1:4]
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {Path(path).stem}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = int(context)
    params.n_parallel = 1
    params.cpuparams.n_threads = min(THREADS, os.cpu_count() or 1)
    params.use_jinja = True
    params.api_keys = [os.environ[KEY]]
    params.ui = False
    server = xllamacpp.Server(params)
    print(READY, server.listening_address, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on
    sys.stdin.read()
    os._exit(0)  # the server's threads would take their time


if __name__ == "__main__":
    main()
