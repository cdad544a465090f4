"""The process of a model: loads it, serves OpenAI's API on 127.0.0.1, and ends when whoever started it is gone.

    python tests/model/llama_process.py FILE NAME PORT THREADS CONTEXT_TOKENS

Writes its address to standard output when it is ready; PORT 0 lets the system choose one.
"""

import sys


def main(path: str, name: str, port: str, threads: str, context_tokens: str) -> None:
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = path
    asked.model_alias = {name}
    asked.hostnames = ["127.0.0.1"]
    asked.port = int(port)
    asked.n_ctx = int(context_tokens)
    asked.n_parallel = 1
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = int(threads)
    asked.ui = False
    asked.offline = True
    asked.cache_ram_mib = 256  # Of prompts, beside the one in the context.
    server = xllamacpp.Server(asked)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
