"""What several surfaces show in the same form: values of the library as JSON, field by field.

The names are a contract: `recollect … --json` and the routes of HTTP give the same ones. A builder takes what `Memory`
gave and returns what JSON can say; where a surface must first put a question together from several parts of `Memory`,
that stands here too, so that all of them ask alike. Nothing here prints, and nothing here knows of click or FastAPI.
"""
