"""HTTP: everything the library does, for programs that speak to a running Recollect.

`app.create_app` makes the application. `guard` stands before all of it: who may connect, who asks, how much and how
fast. A route reads what it is given, calls one method of `Memory` as the one who asks, and answers.
"""
