"""Climbs stop where no move gains or time is up, and the best restart wins."""

from __future__ import annotations

from bayleaf.search.climb import Climb, Deadline, Restarts, SearchState, best_end


class Hill:
    """A number that climbs to ten by its larger divisor, one or two."""

    def __init__(self, height: int) -> None:
        self.score = height

    @property
    def structure(self) -> int:
        return self.score

    def best_move(self) -> int | None:
        return None if self.score >= 10 else 1 + (self.score < 9)

    def apply(self, move: int) -> list[str]:
        self.score += move
        return ["step"] * move


def test_a_climb_makes_moves_until_none_gains_and_reports_each() -> None:
    seen: list[tuple[int, str]] = []
    climb = Climb(Hill(5), Deadline(None), lambda *state: seen.append(state), ["start"])
    climb.ascend()
    state = climb.state
    assert (state.structure, state.score, state.stopped_early) == (10, 10, False)
    assert state.trace == ("start", *["step"] * 5)
    assert seen == [(1, "step"), (2, "step"), (3, "step")]


def test_other_moves_may_be_made_before_each() -> None:
    climb = Climb(Hill(0), Deadline(None))
    climb.ascend(lambda: climb.make(1))
    assert climb.moves.score == 10
    assert climb.trace == ["step"] * 10


def test_no_move_is_made_once_time_is_up_but_in_any_case() -> None:
    climb = Climb(Hill(0), Deadline(0.0))
    climb.ascend()
    assert (climb.state.structure, climb.state.stopped_early) == (0, True)
    assert not climb.make(2)
    assert climb.make(2, in_any_case=True)
    assert (climb.moves.score, climb.stopped) == (2, True)


def test_waves_of_restarts_are_given_the_best_end_of_those_before() -> None:
    heights = {0: 1, 3: 5, 4: 7, 5: 2, 6: 9}
    given: dict[int, int | None] = {}

    def restart(number: int, best: SearchState | None) -> SearchState:
        given[number] = None if best is None else best.restart
        return SearchState(None, heights[number], ())

    restarts = Restarts(5, n_skipped=2)
    assert restarts.numbers == [0, 3, 4, 5, 6]
    assert restarts.best(restart, 1, wave=3).restart == 6
    assert given == {0: None, 3: 0, 4: 0, 5: 0, 6: 4}
    assert restarts.best(restart, 1).restart == 6
    assert set(given.values()) == {None}


def test_restarts_that_never_began_are_those_after_the_first() -> None:
    begun: list[int] = []

    def restart(number: int, _: SearchState | None) -> SearchState:
        begun.append(number)
        return SearchState(None, 0.0, ())

    assert Restarts(3, time_limit=-1.0).best(restart, 1).stopped_early
    assert begun == [0]


def state(score: float, restart: int, stopped: bool = False) -> SearchState:
    return SearchState(None, score, (), stopped, restart)


def test_the_best_restart_wins_and_the_first_among_equals() -> None:
    assert best_end([state(1, 0), state(3, 1), state(2, 2)]).restart == 1
    assert best_end([state(1, 0), state(1 + 1e-9, 1)]).restart == 0


def test_a_restart_that_stopped_or_never_began_is_told() -> None:
    assert not best_end([state(1, 0), state(0, 1)]).stopped_early
    assert best_end([state(1, 0), None]).stopped_early
    assert best_end([state(1, 0), state(0, 1, stopped=True)]).stopped_early


def test_a_deadline_passes_and_none_never_does() -> None:
    assert not Deadline.after(None).has_passed
    assert not Deadline.after(1000.0).has_passed
    assert Deadline.after(-1.0).has_passed
