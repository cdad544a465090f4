"""Jobs: taken by one at a time, tried again, set aside; and whatever dies, none is lost and none is ended twice."""

import threading
from datetime import timedelta
from pathlib import Path

from commands import wait_for
from conftest import FrozenClock, OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.clock import from_text, to_text
from recollect.database import Database
from recollect.jobs import Job, JobStore, Presence, Renewal, State, wait_seconds

KIND = "reading"
LEASE_SECONDS = 120.0


class Jobs:
    """Each call in a transaction of its own, as other processes would have it."""

    def __init__(self, database: Database, clock: FrozenClock, house: str = "home") -> None:
        self.database = database
        self.clock = clock
        self.house = house

    def add(self, *targets: str, place: str = "") -> list[bool]:
        with self.database.write() as session:
            store = JobStore(session, self.house)
            return [store.add(KIND, target, self.clock(), place=place) for target in targets]

    def claim(self, owner: str = "a", **options: object) -> Job | None:
        with self.database.write() as session:
            return JobStore(session, self.house).claim(KIND, owner, self.clock(), LEASE_SECONDS, **options)  # type: ignore[arg-type]

    def claimed(self, owner: str = "a") -> Job:
        job = self.claim(owner)
        assert job is not None
        return job

    def call(self, method: str, *given: object, **options: object) -> object:
        with self.database.write() as session:
            return getattr(JobStore(session, self.house), method)(*given, **options)

    def get(self, target: str) -> Job:
        with self.database.read() as session:
            found = JobStore(session, self.house).get(KIND, target)
        assert found is not None
        return found

    def all(self) -> dict[str, Job]:
        with self.database.read() as session:
            store = JobStore(session, self.house)
            return {job.target: job for state in State for job in store.listed(KIND, state)}


def test_a_job_is_queued_once_however_often_it_is_added(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)

    assert jobs.add("x", "x", "y") == [True, False, True]
    job = jobs.claimed()
    assert jobs.add("x") == [False]

    assert jobs.get("x") == job
    assert list(jobs.all()) == ["y", "x"]


def test_jobs_are_taken_in_the_order_of_their_places(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    for target, place in {"x": "2", "y": "1", "z": "3"}.items():
        jobs.add(target, place=place)

    assert [jobs.claimed().target for _ in range(3)] == ["y", "x", "z"]
    assert jobs.claim() is None


def test_only_the_named_targets_are_taken_where_some_are_named(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x", "y", "z")

    taken = [jobs.claim(among=["z", "y", "w"]) for _ in range(3)]

    assert [job.target if job else None for job in taken] == ["y", "z", None]
    assert jobs.claim(among=[]) is None


def test_a_held_job_is_nobody_elses_until_its_lease_runs_out(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")
    first = jobs.claimed("a")
    clock.move(seconds=100)
    assert jobs.call("renew", first, clock(), LEASE_SECONDS)
    clock.move(seconds=119)
    assert jobs.claim("b") is None

    clock.move(seconds=1)
    second = jobs.claimed("b")

    assert (second.owner, second.claim, second.attempts) == ("b", 2, 2)
    assert not jobs.call("renew", first, clock(), LEASE_SECONDS)
    assert jobs.call("is_mine", second)


def test_a_late_worker_cannot_end_what_another_holds(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")
    late = jobs.claimed("a")
    clock.move(minutes=3)
    holder = jobs.claimed("b")

    assert not jobs.call("done", late)
    assert not jobs.call("release", late)
    assert not jobs.call("set_aside", late, "too late")
    assert not jobs.call("retry", late, to_text(clock()), "too late")

    assert jobs.get("x") == holder
    assert jobs.call("done", holder)
    assert jobs.all() == {}


def test_a_failed_job_waits_for_its_time_and_keeps_its_reason(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")
    due = to_text(clock() + timedelta(seconds=30))
    assert jobs.call("retry", jobs.claimed(), due, "it was cut off")
    assert jobs.claim() is None
    assert jobs.call("next_due_at", KIND) == due

    clock.move(seconds=30)
    again = jobs.claimed()

    assert (again.attempts, again.reason) == (2, "it was cut off")


def test_what_waits_is_taken_early_only_by_who_asks_for_it_and_when_nothing_is_due(
    database: Database, clock: FrozenClock
) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x", place="1")
    jobs.call("retry", jobs.claimed(), to_text(clock() + timedelta(hours=1)), "busy")
    jobs.add("y", place="2")

    assert [jobs.claim(even_waiting=True).target for _ in range(2)] == ["y", "x"]  # type: ignore[union-attr]


def test_a_job_that_is_handed_back_has_lost_no_attempt(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")

    for _ in range(5):
        assert jobs.call("release", jobs.claimed())
    jobs.call("retry", jobs.claimed(), "", "over budget", is_counted=False)

    job = jobs.get("x")
    assert (job.state, job.attempts, job.owner, job.lease_until, job.claim) == (State.QUEUED, 0, "", "", 6)


def test_a_job_set_aside_stays_there_until_it_is_added_again(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")
    job = jobs.claimed()
    jobs.call("set_aside", job, "it cannot be read")
    clock.move(days=9)
    assert jobs.claim(even_waiting=True) is None
    assert jobs.get("x").reason == "it cannot be read"

    assert jobs.add("x") == [True]

    assert not jobs.call("done", job)
    again = jobs.claimed()
    assert (again.attempts, again.reason, again.claim) == (1, "", 2)


def test_jobs_are_counted_by_their_state(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("w", "x", "y", "z")
    jobs.call("set_aside", jobs.claimed(), "bad")
    jobs.claimed()

    counts = jobs.call("counts", KIND)

    assert (counts.queued, counts.held, counts.aside) == (2, 1, 1)  # type: ignore[attr-defined]
    assert jobs.call("targets", KIND, State.QUEUED) == {"y", "z"}
    assert jobs.call("counts", "other").queued == 0  # type: ignore[attr-defined]


def test_kinds_and_houses_do_not_see_each_other(database: Database, clock: FrozenClock) -> None:
    one, other = Jobs(database, clock), Jobs(database, clock, house="other")
    one.add("x")
    assert other.claim() is None
    assert one.call("claim", "writing", "a", clock(), LEASE_SECONDS) is None
    assert other.add("x") == [True]
    assert other.call("remove", KIND, "x")
    assert one.claim() is not None


def test_a_kind_is_paused_and_resumed(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.call("pause", KIND, clock(), "moving house")
    since = to_text(clock())
    clock.move(hours=1)
    jobs.call("pause", KIND, clock(), "again")

    paused = jobs.call("paused", KIND)

    assert (paused.since, paused.reason) == (since, "moving house")  # type: ignore[attr-defined]
    assert jobs.call("paused", "other") is None
    assert jobs.call("resume", KIND)
    assert not jobs.call("resume", KIND)
    assert jobs.call("paused", KIND) is None


@given(st.integers(0, 1_000))
def test_waits_grow_and_have_an_end(failures: int) -> None:
    assert 30 <= wait_seconds(failures) <= wait_seconds(failures + 1) <= 3_600


def test_a_lease_is_renewed_while_something_takes_long(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")
    job = jobs.claimed()
    with Renewal(database, jobs.house, clock, job, 0.03):
        clock.move(hours=1)
        wait_for("a renewal", lambda: jobs.get("x").lease_until > to_text(clock.now))
        assert jobs.claim("b") is None
    assert jobs.call("is_mine", job)


def test_a_renewal_ends_when_the_job_is_anothers(database: Database, clock: FrozenClock) -> None:
    jobs = Jobs(database, clock)
    jobs.add("x")
    job = jobs.claimed()
    jobs.call("release", job)
    with Renewal(database, jobs.house, clock, job, 0.03):
        wait_for("its thread to end", lambda: not [one for one in threading.enumerate() if one.name == "lease"])
    assert jobs.get("x").state is State.QUEUED


def test_the_dead_are_told_from_the_living_and_from_strangers(tmp_path: Path) -> None:
    living, dead = Presence(tmp_path), Presence(tmp_path)
    living.enter("a")
    dead.enter("b")
    for file in dead._files.values():  # pyright: ignore[reportPrivateUsage]  # As the operating system does for a process that ends.
        file.close()

    seen = Presence(tmp_path)
    assert [seen.is_dead(owner) for owner in ("a", "b", "c", "no/such\0name")] == [False, True, False, False]
    seen.clear_up()
    assert [path.stem for path in (tmp_path / "workers").iterdir()] == ["a"]
    living.leave("a")
    assert list((tmp_path / "workers").iterdir()) == []


# Whatever happens in whatever order


ENDINGS = ["done", "retry", "release", "aside", "renew", "crash"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("xy")),
        st.tuples(st.just("claim"), st.integers(0, 1)),
        st.tuples(st.just("claim"), st.integers(0, 1)),
        st.tuples(st.sampled_from(ENDINGS), st.integers(0, 1)),
        st.tuples(st.just("move"), st.sampled_from([130, 60, 1, 4_000, -30])),
    ),
    min_size=20,
    max_size=60,
)
"""Few targets and workers, so that they meet."""


class Workers:
    """Two workers who crash, sleep over their leases and wake up again."""

    def __init__(self, jobs: Jobs, clock: FrozenClock) -> None:
        self.jobs = jobs
        self.clock = clock
        self.names = {number: f"{number}.0" for number in range(2)}
        self.holding: dict[int, Job] = {}
        self.added: set[str] = set()
        self.ended: set[str] = set()

    def do(self, what: str, given: object) -> None:
        if what == "move":
            self.clock.move(seconds=float(str(given)))
        elif what == "add":
            self.add(str(given))
        else:
            number = int(str(given))
            if what == "claim":
                self.claim(number)
            elif what == "crash":
                self.crash(number)
            elif number in self.holding:
                self.end(what, number)

    def add(self, target: str) -> None:
        before = self.jobs.all().get(target)
        assert self.jobs.add(target) == [before is None or before.state is State.ASIDE]
        self.added.add(target)
        self.ended.discard(target)

    def crash(self, number: int) -> None:
        self.holding.pop(number, None)
        self.names[number] = f"{number}.{float(self.names[number].split('.')[1]) + 1:.0f}"

    def claim(self, number: int) -> None:
        if number in self.holding:
            return
        before, now = self.jobs.all(), to_text(self.clock())
        job = self.jobs.claim(self.names[number])
        free = [
            one
            for one in before.values()
            if (one.state is State.QUEUED and one.due_at <= now) or (one.state is State.HELD and one.lease_until <= now)
        ]
        assert (job is not None) == bool(free)
        if job:
            assert job.target in {one.target for one in free}
            assert job.claim == before[job.target].claim + 1
            self.holding[number] = job

    def end(self, what: str, number: int) -> None:
        job = self.holding[number]
        stored = self.jobs.all().get(job.target)
        is_mine = stored is not None and (stored.owner, stored.claim) == (job.owner, job.claim)
        if what == "renew":
            assert self.jobs.call("renew", job, self.clock(), LEASE_SECONDS) is is_mine
            return
        given: dict[str, list[object]] = {"done": [], "release": [], "aside": ["bad"]}
        due = to_text(self.clock() + timedelta(seconds=wait_seconds(job.attempts)))
        method = "set_aside" if what == "aside" else what
        assert self.jobs.call(method, job, *given.get(what, [due, "bad"])) is is_mine
        del self.holding[number]
        if not is_mine:
            assert self.jobs.all().get(job.target) == stored
        elif what == "done":
            self.ended.add(job.target)

    def check(self) -> None:
        stored = self.jobs.all()
        assert set(stored) == self.added - self.ended
        mine = [
            job.target
            for job in self.holding.values()
            if (there := stored.get(job.target)) and (there.owner, there.claim) == (job.owner, job.claim)
        ]
        assert len(mine) == len(set(mine))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_no_job_is_lost_none_is_held_by_two_and_no_late_worker_ends_anothers(
    open_house: OpenHouse, clock: FrozenClock, steps: list[tuple[str, object]]
) -> None:
    memory: recollect.Memory = open_house()
    start = clock.now
    workers = Workers(Jobs(memory.database, clock, memory.settings.house), clock)
    for what, given_ in steps:
        workers.do(what, given_)
        workers.check()
    clock.move(days=1)
    left = 0
    while job := workers.jobs.claim("last"):
        assert from_text(job.lease_until) > clock.now
        assert workers.jobs.call("done", job)
        left += 1
    assert all(one.state is State.ASIDE for one in workers.jobs.all().values())
    assert left + len(workers.jobs.all()) == len(workers.added - workers.ended)
    clock.now = start
