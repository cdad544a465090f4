"""`recollect up` with channels: its log tells once which of them are in trouble, and so does the list (M9)."""

import re
import signal
from pathlib import Path

from commands import end, run, started, wait_for

from recollect.testing import OpenAIServer, TelegramServer

SETTINGS = """\
poll_interval_seconds = 0.2
fetch_models = false
[mind]
model = "{model}#test-model"
[telegram]
token_variable = "THE_BOT"
api_url = "{telegram}"
[webhook]
listen = "127.0.0.1:8765"
"""


def test_channels_that_are_in_trouble_are_told_once_in_the_log_and_ctrl_c_ends_it(home: Path) -> None:
    home.mkdir(parents=True)
    with OpenAIServer() as model, TelegramServer() as telegram:
        telegram.revoke()
        settings = SETTINGS.format(model=model.base_url, telegram=telegram.url)
        (home / "recollect.toml").write_text(settings, encoding="utf-8")
        with started("up", home=home, variables={"THE_BOT": telegram.token}) as daemon:
            log = Path(f"{home}.out")
            wait_for("the trouble", lambda: "telegram: Telegram does not know the token" in log.read_text())
            wait_for("the other", lambda: "webhook: The webhook has no secret" in log.read_text())
            listed = run("channels", home=home).out
            assert end(daemon, signal.SIGINT) == 0
        told = log.read_text()
    assert told.count("telegram: Telegram does not know the token") == 1
    assert "You can talk with assistant by telegram and webhook." in told
    assert re.search(r"^telegram +in trouble +Telegram does not know the token", listed, re.MULTILINE)
    assert re.search(r"^webhook +in trouble +The webhook has no secret", listed, re.MULTILINE)
    assert telegram.token not in told
