"""MCP: seven tools, the notes and the conversations, and a prompt, for agents of any make (S2).

`server.build_server` makes the server, whoever it is reached by: `stdio` for a program that starts us, `http` for one
that asks a running daemon. Who asks is known from the token or from how it was started, never from what is asked.

Imports of the SDK are absolute: `mcp` is the package, `recollect.surfaces.mcp` this one.
"""
