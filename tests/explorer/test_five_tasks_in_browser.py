"""Five tasks of someone who sees a page for the first time, by mouse, finger and keys.

What is the risk, what would lower it, what to ask next, why, and is the model good: all
are done with what is seen on the screen, read there and compared with Python. Limits on
the steps fail where a task becomes cumbersome.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from scipy.special import entr

import bayleaf
from bayleaf.classifiers.shared.leave_one_out import known_score
from bayleaf.datasets import load_heart
from bayleaf.explain import value_of_information
from bayleaf.explorer import explorer_html
from bayleaf.io import read_network
from explorer.person import Person

pytestmark = pytest.mark.slow

Row = dict[str, Any]
# How the page is used, the window, and the colours.
SCREENS = {
    "mouse": ("mouse", 1280, 800, "light"),
    "mouse in a large window": ("mouse", 1600, 1000, "dark"),
    "touch": ("touch", 390, 844, "dark"),
    "touch on a small telephone": ("touch", 400, 800, "light"),
    "keyboard": ("keyboard", 1280, 800, "light"),
    "keyboard in a narrow window": ("keyboard", 400, 800, "dark"),
}
# The others are among the long tests.
QUICK = [("heart", "touch"), ("alarm", "keyboard")]
TRY = re.compile("^Try ")


def of_100(chance: float) -> int:
    """A chance as a page counts it: halves are rounded up."""
    return int(np.floor(100 * chance + 0.5))


def parts(pattern: str, text: str) -> tuple[str, ...]:
    """The groups of a pattern that a text must have."""
    found = re.search(pattern, text)
    assert found, f"{pattern} is not in {text}"
    return found.groups()


class ClassifierPage:
    """A cockpit, and what Python says of the same case."""

    def __init__(self, person: Person, model: Any, row: Row) -> None:
        self.person, self.model, self.row = person, model, row
        self.columns = {str(n).replace("_", " "): n for n in model.feature_names_in_}

    def region(self, name: str) -> Any:
        """A part of the page."""
        return self.person.see("region", name)

    def table(self, row: Row) -> pa.Table:
        """A case as a table of one row."""
        is_text = {name: isinstance(value, str) for name, value in row.items()}
        types = [
            pa.string() if is_text.get(n, True) else pa.float64()
            for n in self.columns.values()
        ]
        cells = {name: [row.get(name)] for name in self.columns.values()}
        return pa.table(cells, pa.schema(list(zip(cells, types, strict=True))))

    def proba(self, row: Row) -> Any:
        """Probabilities of both classes."""
        return self.model.predict_proba(self.table(row))[0]

    def chance(self) -> int:
        """The chance in the headline."""
        (count,) = parts(r"About (\d+) in 100", self.region("Answer").inner_text())
        return int(count)

    def enter(self) -> None:
        """Enter each finding of the case in its field, in the order of the form."""
        see = self.person.see
        if self.person.way == "keyboard":
            self.person.press(see("button", "Skip to the findings"))
        fields = self.region("Findings").get_by_role("group")
        fields = fields.or_(self.region("Findings").get_by_role("radiogroup"))
        for label in [own.get_attribute("aria-label") for own in fields.all()]:
            value = self.row.get(self.columns.get(label, ""))
            if value is None:
                continue
            if see("textbox", label).count():
                self.person.write(see("textbox", label), f"{value:g}")
            elif see("combobox", label).count():
                self.person.choose(see("combobox", label), value)
            else:
                state = see("radio", value, see("radiogroup", label))
                self.person.press(state)
                assert state.is_checked(), f"{label} does not show {value}"

    def paste(self) -> None:
        """Paste the case as a line of a table under its names."""
        self.person.press(self.person.page.get_by_text("Paste a case", exact=True))
        self.person.write(
            self.person.see("textbox", re.compile("^A line of")), line_of(self.row)
        )
        self.person.press(self.person.see("button", "Enter this case"))

    def check_risk(self) -> None:
        """Read the chance."""
        assert self.chance() == of_100(self.proba(self.row)[1])

    def lower(self) -> None:
        """Look for changes that lower the chance, try the first, and leave them."""
        person = self.person
        before = self.chance()
        by_keys = person.way == "keyboard"
        way_in = "What would change it" if by_keys else "What if"
        person.press(person.see("button", way_in))
        goal = person.see("combobox", "Goal")
        if goal.input_value() != "below":
            person.choose(goal, "below")
        person.see("button", TRY).first.wait_for(timeout=60_000)
        searching = self.region("What if").get_by_text("Searching")
        searching.wait_for(state="hidden", timeout=60_000)
        line = int(person.see("spinbutton", "Goal in 100").input_value())
        items = self.region("What if").get_by_role("listitem").all()
        assert items, "nothing is proposed"
        promised = []
        for text, read in (own.locator("> span").all_inner_texts() for own in items):
            changed = dict(self.row)
            for change in text.split(" – not sure")[0].split("; "):
                label, to = parts("^(.+?): (?:.+ → )?(.+)$", change)
                name = self.columns[label]
                is_number = isinstance(self.row.get(name), float)
                changed[name] = float(to) if is_number else to
            chance = int(*parts(r"(\d+) in 100", read))
            assert chance == of_100(self.proba(changed)[1]), text
            assert chance < min(line, before), text
            promised.append(chance)
        person.press(person.see("button", TRY).first)
        answer = self.region("Answer").inner_text()
        assert f"About {promised[0]} in 100 instead of {before}" in answer
        person.press(person.see("button", "Close What if"))
        assert self.chance() == before

    def why(self) -> None:
        """Read by how much each finding moves the odds."""
        table = self.person.see("table", "Why")
        if self.person.way == "touch":
            self.person.press(self.person.see("button", "Why"))
        self.person.show(table)
        (explanation,) = self.model.explain(
            self.table(self.row), of=self.model.classes_[1]
        )
        terms = {term.feature: term.contribution for term in explanation.terms}
        rows = [row.inner_text().split("\t") for row in table.get_by_role("row").all()]
        n_named = 0
        for head, *_, effect in rows[2:-1]:
            names = [label for label in self.columns if head.strip().startswith(label)]
            if names:
                nats = terms[self.columns[max(names, key=len)]]
                factor = f"{'×' if nats > 0 else '÷'}{np.exp(abs(nats)):.1f}"
                assert effect.split()[-1] in ("×1.0", factor), head
                n_named += 1
        assert n_named >= 5

    def ask_next(self) -> None:
        """Read what to ask, and go to the field of the first."""
        person = self.person
        if person.way == "keyboard":
            person.press(person.see("button", "Most useful next"))
        items = self.region("Why").get_by_role("listitem")
        items.first.wait_for(timeout=60_000)
        known = {name: value for name, value in self.row.items() if value is not None}
        gains = value_of_information(self.model, known)
        uncertainty = entr(self.proba(self.row)).sum()
        found = [text.split("\n")[:2] for text in items.all_inner_texts()]
        wanted = list(gains.items())[: len(found)]
        assert found == [
            [str(name).replace("_", " "), f"{of_100(gain / uncertainty)} %"]
            for name, gain in wanted
        ]
        (label, _), *_ = found
        person.press(person.see("button", label, self.region("Why")))
        field = self.region("Findings").locator(
            ".entry", has=person.page.locator(":focus")
        )
        assert field.get_attribute("aria-label") == label

    def quality(self) -> None:
        """Read how good the model is."""
        region = self.region("How good is this model?")
        self.person.show(region)
        score = known_score(self.model)
        assert score is not None
        assert (
            f"Right for {of_100(1 - score.error)} of 100 cases" in region.inner_text()
        )


class NetworkPage:
    """The map of a network, and what Python says of the same evidence."""

    def __init__(self, person: Person, network: Any, question: str, row: Row) -> None:
        self.person, self.network = person, network
        self.question, self.row = question, row

    def proba(self, row: Row, state: str) -> float:
        """Probability of a state of the variable asked for."""
        found = self.network.query(row, [self.question])[self.question]
        return float(found[state])

    def verdict(self) -> tuple[str, ...]:
        """The most probable state and its percentage in the answer."""
        answer = self.person.see("region", "Answer").get_by_role("status").first
        return parts(rf"{self.question}: (\w+) ([\d.]+)\s%", answer.inner_text())

    def enter(self) -> None:
        """Ask for a variable, and set what is known by the field or on the map."""
        person, see = self.person, self.person.see
        person.choose(see("combobox", "Variable asked for"), self.question)
        for name, state in self.row.items():
            if person.way == "keyboard":
                person.write(see("searchbox", re.compile("^Find")), f"{name}={state}")
                person.key("Enter")
                continue
            place = see("group", re.compile(rf"^{name}\b"))
            if see("button", "List").get_attribute("aria-pressed") != "true":
                person.press(see("button", name))
                place = person.page.locator("details", has=see("heading", name))
            person.press(see("button", re.compile(rf"^{state}\b"), place).first)

    def check_risk(self) -> None:
        """Read the probability of the answer."""
        self.person.page.get_by_text(f"{self.question}: ").first.wait_for()
        state, read = self.verdict()
        proba = self.proba(self.row, state)
        assert float(read) == pytest.approx(100 * proba, abs=0.051)

    def jump(self, name: str) -> None:
        """Go to a panel by its button; by keys from below, by its heading."""
        see = self.person.see
        panel = self.person.page.locator("details", has=see("heading", name))
        if self.person.way != "keyboard" or not self.person.is_behind(
            see("button", name)
        ):
            self.person.press(see("button", name))
        elif panel.count() and panel.last.get_attribute("open") is None:
            self.person.press(panel.last.locator("summary").first)

    def lower(self) -> None:
        """Look for findings that would lower the answer, try one, and take it back."""
        person = self.person
        before = self.verdict()
        self.jump("What if")
        person.see("button", TRY).first.wait_for(timeout=60_000)
        searching = person.page.get_by_text("Searching")
        searching.wait_for(state="hidden", timeout=60_000)
        items = person.page.get_by_role("listitem").filter(
            has=person.see("button", TRY)
        )
        for text in items.all_inner_texts():
            changes, read = parts(r"Try\s*(.+?): .*→ ([\d.]+)\s%", text)
            changed = dict(self.row)
            for change in changes.split(" and "):
                name, to = parts(r"^(\w+) = (\w+)(?: instead of|, not known)", change)
                changed[name] = to
            chance = 100 * self.proba(changed, before[0])
            assert float(read) == pytest.approx(chance, abs=0.051), text
            assert float(read) < float(before[1]), text
        person.press(person.see("button", TRY).first)
        person.press(person.see("button", "Take it back"))
        assert self.verdict() == before

    def why(self) -> None:
        """Read by how much each finding moves the odds, in the order of the table."""
        self.jump("Why")
        table = self.person.see("table", "Why")
        line = self.person.page.get_by_text("times as likely as").inner_text()
        target, against = parts(r"(\w+) is \S+ times as likely as (\w+)", line)

        def odds(row: Row) -> float:
            return self.proba(row, target) / self.proba(row, against)

        known: Row = {}
        for own in table.get_by_role("row").all()[2:]:
            head = own.get_by_role("rowheader").inner_text().split("\n")[0]
            name, state = head.split(" = ")
            before, known = known, {**known, name: state}
            given, alone = own.locator("td.number").all_inner_texts()
            for read, value in (
                (given, odds(known) / odds(before)),
                (alone, odds({name: state}) / odds({})),
            ):
                factor = float(read[1:]) ** (-1 if read[0] == "÷" else 1)
                assert factor == pytest.approx(value, rel=0.006), (head, read)
        assert known == self.row

    def ask_next(self) -> None:
        """Read what to ask, and open the first."""
        person = self.person
        self.jump("Ask next")
        table = person.see("table", "Ask next")
        table.wait_for(timeout=60_000)
        rows = table.get_by_role("row").all()[1:]
        gains = self.network.value_of_information(self.question, self.row)
        found = self.network.query(self.row, [self.question])[self.question]
        uncertainty = entr(found.probabilities).sum()
        for own, (name, gain) in zip(rows, gains.items(), strict=False):
            assert own.get_by_role("rowheader").inner_text() == name
            share = own.locator("td.number").first.inner_text().removesuffix("\u00a0%")
            assert float(share) == pytest.approx(100 * gain / uncertainty, abs=0.051)
        first = next(iter(gains))
        person.press(person.see("button", first, table))
        assert person.page.locator("details", has=person.see("heading", first)).count()

    def quality(self) -> None:
        """Read that no one has measured it, and how to try it."""
        self.jump("How good is this model?")
        about = self.person.see("region", "How good is this model?")
        self.person.show(about)
        assert "has not been measured" in about.inner_text()
        assert "on cases whose outcome you know" in about.inner_text()

    def paste(self) -> None:
        """Paste the evidence as a line of a table under its names."""
        self.jump("Cases")
        self.person.write(
            self.person.see("textbox", re.compile("^A line of")), line_of(self.row)
        )
        self.person.press(self.person.see("button", "Set this case"))


def line_of(row: Row) -> str:
    """A case as names and values with commas."""
    known = {name: value for name, value in row.items() if value is not None}
    return "\n".join(",".join(map(str, cells)) for cells in (known, known.values()))


def rows_of(table: pa.Table, *numbers: int, unknown: set[str]) -> list[Row]:
    """Rows as cases of which some features are not known."""
    return [
        {
            name: None
            if name in unknown
            else value
            if isinstance(value, str)
            else float(value)
            for name, value in table.slice(number, 1).to_pylist()[0].items()
        }
        for number in numbers
    ]


@cache
def heart() -> tuple[Any, list[Row]]:
    """A model of heart disease, and patients before the costly tests."""
    X, y = load_heart(return_X_y=True)
    unknown = {"thallium_scan", "major_vessels_coloured"}
    model = bayleaf.AveragedKDBClassifier(random_state=0).fit(X, y)
    return model, rows_of(X, 8, 15, unknown=unknown)


@cache
def adult() -> tuple[Any, list[Row]]:
    """A model of income, and persons whose gains are not known.

    Their sector is: in a table without one it would be the state of cells that training
    lacked.
    """
    path = Path(os.environ["BAYLEAF_DATA"]) / "small" / "adult.csv"
    options = pa_csv.ConvertOptions(null_values=["", "?"], strings_can_be_null=True)
    X = pa_csv.read_csv(path, convert_options=options)
    model = bayleaf.AveragedKDBClassifier(random_state=0)
    model.fit(X.drop_columns(["class"]), X["class"].to_pylist())
    unknown = {"capital-gain", "capital-loss", "fnlwgt"}
    return model, rows_of(X.drop_columns(["class"]), 7, 20, unknown=unknown)


@cache
def alarm() -> tuple[Any, list[Row]]:
    """A network of intensive care, and what is seen in two emergencies."""
    path = Path(os.environ["BAYLEAF_DATA"]) / "networks" / "alarm.bif"
    seen = {"HISTORY": "TRUE", "CVP": "HIGH", "HRBP": "HIGH", "SAO2": "LOW"}
    return read_network(path), [seen | {"BP": "LOW"}, seen | {"BP": "HIGH"}]


MODELS: dict[str, Callable[[], tuple[Any, list[Row]]]] = {
    "heart": heart,
    "adult": adult,
    "alarm": alarm,
}


class Steps(NamedTuple):
    """Most steps of each task."""

    enter: int
    lower: int
    why: int
    ask_next: int
    quality: int
    paste: int


CLASSIFIER_STEPS = {
    "mouse": Steps(enter=26, lower=5, why=2, ask_next=3, quality=2, paste=8),
    "touch": Steps(enter=26, lower=6, why=3, ask_next=4, quality=4, paste=9),
    "keyboard": Steps(enter=55, lower=48, why=0, ask_next=8, quality=0, paste=20),
}
NETWORK_STEPS = {
    "mouse": Steps(enter=14, lower=4, why=2, ask_next=3, quality=2, paste=5),
    "touch": Steps(enter=28, lower=4, why=2, ask_next=3, quality=2, paste=6),
    "keyboard": Steps(enter=22, lower=16, why=0, ask_next=15, quality=0, paste=40),
}


@contextmanager
def at_most(person: Person, task: str, most: Steps) -> Iterator[None]:
    """Fail a task that takes more steps than a person should need."""
    person.steps = 0
    yield
    limit = getattr(most, task)
    assert person.steps <= limit, f"{task}: {person.steps} steps, more than {limit}"


@pytest.mark.parametrize(
    ("name", "screen"),
    [
        one if one in QUICK else pytest.param(*one, marks=pytest.mark.long)
        for one in product(MODELS, SCREENS)
    ],
)
def test_five_tasks_take_few_steps(
    name: str, screen: str, open_page: Any, request: pytest.FixtureRequest
) -> None:
    if name != "heart":
        request.getfixturevalue("data_folder")
    way, width, height, scheme = SCREENS[screen]
    model, (case, another) = MODELS[name]()
    page = open_page(
        html_of(name),
        view="cockpit",
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        has_touch=way == "touch",
    )
    person = Person(page, way)
    own: Any
    if name == "alarm":
        own, most = NetworkPage(person, model, "HYPOVOLEMIA", case), NETWORK_STEPS[way]
    else:
        own, most = ClassifierPage(person, model, case), CLASSIFIER_STEPS[way]
    with at_most(person, "enter", most):
        own.enter()
        own.check_risk()
    for task in ("lower", "why", "ask_next", "quality"):
        person.settle()
        with at_most(person, task, most):
            getattr(own, task)()
    own.row = another
    with at_most(person, "paste", most):
        own.paste()
        own.check_risk()


@cache
def html_of(name: str) -> str:
    """The page of a model."""
    return explorer_html(MODELS[name]()[0])
