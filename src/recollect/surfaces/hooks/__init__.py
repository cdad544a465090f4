"""Hooks: how Recollect stands beside a coding agent.

`recollect install` puts a few lines into the settings of Claude Code or Codex. From then on a session begins with what
is known, and is taken in at its ends. All of them run one small script (`recollect-hook`), which asks the daemon, or
where there is none Recollect itself (`recollect hook`). Both answer by `answering`.

- tools          what each agent calls its files and events
- payload, answering, injecting, capturing    what a hook is told, and what becomes of it
- jsontext, tomltext, tomllines, targets    changing somebody's settings and nothing else in them
- commands, installing, removing, changes, installed, files, self_test, plugin    adding it all, and taking it away
- standing       what became of it since, for `recollect doctor`

Invariants: a hook never blocks an agent and never fails it; what is injected stands inside `<recollect-context>` and
does not become history; what is not ours in a settings file keeps its bytes.
"""
