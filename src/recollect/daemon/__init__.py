"""`recollect up`: everything on one machine, in one process, in the foreground.

`daemon` begins the parts and ends them; each of the others keeps one part at work: `indexing`, `notekeeping`,
`librarianship`, `minding`, `serving` (HTTP), `switchboard` (the local socket). A part that fails begins again
(`supervision`) and ends nothing else. `status` is what other processes read of it. Nothing here is an only copy: a
daemon that is killed loses nothing but time.
"""
