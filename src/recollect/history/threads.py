"""What a thread and its conversations are called."""


def stream_title(file_id: str, stream: str) -> str:
    """Under which name the title of one session is kept when its file holds several."""
    return f"stream:{file_id}:{stream}"
