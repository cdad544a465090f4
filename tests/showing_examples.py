"""Labelled examples: a record that was shown, what was said then, and whether the assistant used the record.

Written before the rule was tried on them, and not changed after. A person decided by the question: would the assistant
have said this without having been shown the record? Each exchange: who (`u` user, `t` tool, `a` assistant) and words.
"""

Example = tuple[str, str, tuple[tuple[str, str], ...]]
"""(name, record, exchange)"""

USED: list[Example] = [
    (
        "a port nobody named",
        "The invoice database runs on port 5433, not on the default.",
        (
            ("u", "Connect me to the invoice database."),
            ("a", "I'll use `psql -h localhost -p 5433 invoices` for that."),
        ),
    ),
    (
        "a host and its port",
        "Staging lives at kestrel.internal:8443 behind the VPN.",
        (("u", "Is staging up?"), ("a", "Checking kestrel.internal:8443, which is staging's address. It answers 200.")),
    ),
    (
        "a path",
        "Release notes are written to docs/release/NOTES.md before each tag.",
        (("u", "Prepare the release."), ("a", "First I add an entry to docs/release/NOTES.md, then I tag it.")),
    ),
    (
        "a package manager",
        "This repository uses pnpm, never npm.",
        (("u", "Install the dependencies."), ("a", "Running `pnpm install`, as this repository uses pnpm.")),
    ),
    (
        "a person by name",
        "Questions about the greenhouse go to Lindqvist, who maintains its sensors.",
        (
            ("u", "Who could tell me why the sensors are silent?"),
            ("a", "Lindqvist maintains the sensors of the greenhouse; ask there first."),
        ),
    ),
    (
        "a deadline",
        "The tax return is due on 31 May; the accountant is Frau Okafor.",
        (
            ("u", "What should I not forget this month?"),
            ("a", "The tax return: it is due on 31 May, and Frau Okafor needs the papers before."),
        ),
    ),
    (
        "a command the tool is called with",
        "Integration tests need RUN_SLOW=1 in the environment.",
        (("u", "Run the integration tests."), ("a", "I run them now.\nRUN_SLOW=1 pytest tests/integration")),
    ),
    (
        "an identifier",
        "Use `parse_interval_strict` for user input; the lenient one hides mistakes.",
        (
            ("u", "Parse what the user typed into the interval field."),
            ("a", "I call parse_interval_strict here, since the lenient one hides mistakes."),
        ),
    ),
    (
        "a preference said in the answer",
        "Mara is allergic to walnuts and does not eat pork.",
        (
            ("u", "Suggest a cake for Mara's birthday."),
            ("a", "A lemon cake, without walnuts: Mara is allergic to walnuts."),
        ),
    ),
    (
        "a decision with its reason",
        "We chose Valkey over Redis because of the licence.",
        (
            ("u", "Add a cache to the compose file."),
            ("a", "I add Valkey rather than Redis, as you decided because of the licence."),
        ),
    ),
    (
        "a branch name",
        "Hotfixes start from release/7.x and are merged forward.",
        (("u", "We need a hotfix for the crash."), ("a", "I branch off release/7.x and merge it forward afterwards.")),
    ),
    (
        "an address in another language",
        "Die Werkstatt liegt in der Gerbergasse 14, der Schlüssel beim Pförtner.",
        (
            ("u", "Wo muss ich morgen hin?"),
            ("a", "In die Werkstatt, Gerbergasse 14. Den Schlüssel hat der Pförtner."),
        ),
    ),
    (
        "an account number of a project",
        "The AWS account of the demo is 481516234200, region eu-north-1.",
        (("u", "Deploy the demo."), ("a", "Deploying to account 481516234200 in eu-north-1.")),
    ),
    (
        "a naming rule that is repeated",
        "Migrations are named with a date prefix such as 20260401_add_users.",
        (
            ("u", "Write a migration that adds the orders table."),
            ("a", "The migrations here are named with a date prefix, so I call it 20260512_add_orders."),
        ),
    ),
    (
        "a plain instruction, said back",
        "Answer in short sentences and leave out compliments.",
        (("u", "How does this look?"), ("a", "In short sentences, and I leave out compliments: the loop never ends.")),
    ),
    (
        "advice that is followed without a word of it",
        "Always run the formatter before a commit.",
        (("u", "Commit this."), ("a", "Done: I ran ruff first and committed the two files.")),
    ),
    (
        "a tone that is kept",
        "Mara prefers plain English without jargon.",
        (
            ("u", "Explain what a lease is here."),
            ("a", "It is a promise with an end: who holds it may work until then."),
        ),
    ),
    (
        "a model of a machine",
        "The home server is a ThinkCentre M720q with 32 GB.",
        (
            ("u", "Can I run the large model at home?"),
            ("a", "Hardly: your server is an M720q with 32 GB, and the model needs 48."),
        ),
    ),
    (
        "in Japanese",
        "会議は毎週木曜日の午後三時に第二会議室で行われる。",
        (("u", "次の予定を教えて。"), ("a", "次は木曜日の午後三時、第二会議室での会議です。")),
    ),
    (
        "a word of the record in other letters",
        "The linter's complaint about E731 is ignored on purpose in rules.py.",
        (("u", "Clean up the warnings."), ("a", "I leave e731 in rules.py alone: it is ignored on purpose there.")),
    ),
]

NOT_USED: list[Example] = [
    (
        "the user said it first",
        "The invoice database runs on port 5433, not on the default.",
        (("u", "The invoice database is on port 5433, connect there."), ("a", "Connecting to port 5433 now.")),
    ),
    (
        "a file said it first",
        "Staging lives at kestrel.internal:8443 behind the VPN.",
        (
            ("u", "Is staging up?"),
            ("t", "STAGING_URL=https://kestrel.internal:8443"),
            ("a", "The .env names kestrel.internal:8443 as staging. It answers."),
        ),
    ),
    (
        "something else altogether",
        "Questions about the greenhouse go to Lindqvist, who maintains its sensors.",
        (("u", "Write a haiku."), ("a", "Old pond, a frog leaps in, the sound of water.")),
    ),
    (
        "the same field, other matters",
        "Integration tests need RUN_SLOW=1 in the environment.",
        (
            ("u", "Fix the failing unit test."),
            ("a", "The unit tests pass again; I changed the environment of one of them."),
        ),
    ),
    (
        "common words of the trade",
        "The deploy script needs the database migrations to run first.",
        (
            ("u", "Why is the build red?"),
            ("a", "A type error in the parser. The script that checks types runs first, before the tests."),
        ),
    ),
    (
        "the same number for another thing",
        "The invoice database runs on port 5433, not on the default.",
        (("u", "How many rows are there?"), ("a", "There are 5433 orders from last year.")),
    ),
    (
        "a name that the user brought",
        "Questions about the greenhouse go to Lindqvist, who maintains its sensors.",
        (("u", "Draft a mail to Lindqvist about lunch."), ("a", "Dear Lindqvist, shall we have lunch on Friday?")),
    ),
    (
        "the same tool, another use",
        "This repository uses pnpm, never npm.",
        (("u", "What is a lock file?"), ("a", "It pins versions: npm, pnpm and yarn each write their own.")),
    ),
    (
        "a year",
        "The house was rebuilt in 2019 by the same architect.",
        (
            ("u", "When did Python 2 end?"),
            ("a", "Support ended in January 2020; the last release came soon after 2019."),
        ),
    ),
    (
        "a long answer full of ordinary words",
        "Reports are sent to the customer every Monday morning by mail.",
        (
            ("u", "Explain how the queue works."),
            (
                "a",
                (
                    "Each worker takes a job and holds a lease. When the lease ends another worker may take it. "
                    "Reports of failures are kept. A customer of the queue asks every few seconds. "
                    "Nothing is sent by mail."
                ),
            ),
        ),
    ),
    (
        "another person of the same first letter",
        "Mara is allergic to walnuts and does not eat pork.",
        (("u", "Suggest a cake for Max."), ("a", "A carrot cake with hazelnuts and cream would suit Max.")),
    ),
    (
        "the tool's output was read out",
        "The AWS account of the demo is 481516234200, region eu-north-1.",
        (
            ("u", "Which account am I in?"),
            ("t", '{"Account": "481516234200", "Arn": "arn:aws:iam::481516234200:user/ada"}'),
            ("a", "You are in account 481516234200."),
        ),
    ),
    (
        "a general rule everybody knows",
        "Always run the formatter before a commit.",
        (("u", "What does pre-commit do?"), ("a", "It runs checks of your choice whenever you commit something.")),
    ),
    (
        "the opposite, from general knowledge",
        "We chose Valkey over Redis because of the licence.",
        (("u", "Which cache is best known?"), ("a", "Redis is the best known; Memcached is older.")),
    ),
    (
        "German small talk",
        "Die Werkstatt liegt in der Gerbergasse 14, der Schlüssel beim Pförtner.",
        (("u", "Wie wird das Wetter?"), ("a", "Morgen regnet es in der Stadt, am Abend klart es auf.")),
    ),
    (
        "two words of the record, far apart",
        "Hotfixes start from release/7.x and are merged forward.",
        (
            ("u", "Summarise the meeting."),
            (
                "a",
                (
                    "The team will start earlier. There was cake. Somebody sang. Two branches were merged. "
                    "Everybody looks forward to the summer."
                ),
            ),
        ),
    ),
    (
        "the user quoted the record's subject",
        "Release notes are written to docs/release/NOTES.md before each tag.",
        (
            ("u", "Open docs/release/NOTES.md and fix the typo."),
            ("a", "I fixed the typo in docs/release/NOTES.md."),
        ),
    ),
    (
        "a version that is everywhere",
        "Tests run on Python 3.11 and 3.13 in CI.",
        (("u", "Which release brought exception groups?"), ("a", "Exception groups came with Python 3.11 in 2022.")),
    ),
    (
        "Japanese about something else",
        "会議は毎週木曜日の午後三時に第二会議室で行われる。",
        (("u", "昼ご飯は何がいい?"), ("a", "駅前の蕎麦屋はどうですか。木曜日は安いです。")),
    ),
    (
        "agreeing without using",
        "Answer in short sentences and leave out compliments.",
        (("u", "Thanks!"), ("a", "You are welcome. That was a wonderful question, and I enjoyed it very much!")),
    ),
]
