"""What Telegram refuses, in our words. None of them tells an address or a token, nor has an error behind it that does.

Denied
├── TokenRefused   the token is no (longer a) token
└── ChatRefused    this chat takes nothing from the bot
Invalid
├── BadRequest     the request is wrong: `description` says how
└── TooLarge       a file that bots may not fetch
Conflict
└── Taken          another program reads for this bot
Unavailable
├── SlowDown       not before `seconds` have passed
├── NotTheApi      something else answered in its place
└── MayHaveArrived (mind.channel)
"""

from recollect.errors import Conflict, Denied, Invalid, Unavailable


class TokenRefused(Denied):
    pass


class ChatRefused(Denied):
    pass


class BadRequest(Invalid):
    def __init__(self, description: str) -> None:
        super().__init__(f"Telegram refused it: {description}")
        self.description = description


class TooLarge(Invalid):
    pass


class Taken(Conflict):
    pass


class SlowDown(Unavailable):
    status = 429

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Telegram wants nothing from this bot for {seconds:g} seconds.")
        self.seconds = seconds


class NotTheApi(Unavailable):
    def __init__(self, status: int) -> None:
        super().__init__(
            f"What answered is not the Bot API (status {status}): a proxy, or another server at telegram.api_url."
        )
