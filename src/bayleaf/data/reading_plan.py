"""How the cells of a table become values, as users write it down and models keep it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from bayleaf.data.tables.columns import Name
from bayleaf.data.text_forms import FileSigns, TextDecision, TextForm
from bayleaf.results.result import Shown
from bayleaf.typing import JSONObject
from bayleaf.wording import name_list, near_names, quoted

_KINDS = ("text", "number", "boolean", "date", "duration")
_FORMAT = "bayleaf-plan"
# Types of what is usually not given of a column.
_TYPES: dict[str, Any] = {"zone": int | str, "use": str, "parts": tuple}


@dataclass(frozen=True)
class ReadingPlan(Shown):
    """How the texts of a table are read, decided once and passed to `fit`.

    Columns without an entry are read by what all their cells spell. The plan is stored
    with the model, which reads every later table by it.

    Parameters
    ----------
    columns : tuple of (name, TextForm)
        The form of a column's texts; kind "text" keeps them.
    missing : tuple of str, optional
        Texts that are missing in any column of a file; None keeps them.
    decimal : {".", ","}, optional
        Decimal sign of columns that allow both.
    day_first : bool, optional
        Whether the day precedes the month in dates that allow both.

    Raises
    ------
    ValueError
        If a sign, the kind of a column or the order of a date is unknown.
    """

    columns: tuple[tuple[Name, TextForm], ...] = ()
    missing: tuple[str, ...] | None = None
    decimal: str | None = None
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError(
                f"decimal must be a point or a comma, got {quoted(self.decimal)}"
            )
        for name, form in self.columns:
            if form.kind not in _KINDS:
                raise ValueError(
                    f"column {quoted(name)} of the plan has the kind "
                    f"{quoted(form.kind)}; use {name_list(_KINDS)}"
                )
            form.check_content()

    @property
    def signs(self) -> FileSigns:
        """What the plan decides of columns that are ambiguous."""
        comma = None if self.decimal is None else self.decimal == ","
        return FileSigns(comma, self.day_first)

    def decisions(self, names: Iterable[Name]) -> dict[Name, TextDecision]:
        """The forms of columns that the plan names; ValueError if one is absent."""
        known = {str(name): name for name in names}
        for name, _ in self.columns:
            if str(name) not in known:
                hint = near_names(str(name), [*known])
                raise ValueError(f"the plan names the column {quoted(name)}; {hint}")
        return {known[str(name)]: TextDecision(form) for name, form in self.columns}

    def of_columns(self, names: Iterable[Name]) -> Self:
        """The plan without the columns that are not among some names."""
        present = {str(name) for name in names}
        columns = tuple(item for item in self.columns if str(item[0]) in present)
        return replace(self, columns=columns)

    def to_dict(self) -> JSONObject:
        """The plan as plain values; what is usual of a column is left out."""
        usual = asdict(TextForm())
        columns = {}
        for name, form in self.columns:
            entry = {k: v for k, v in asdict(form).items() if v != usual[k]}
            columns[str(name)] = {"kind": form.kind, **entry}
        content: dict[str, Any] = {"format": _FORMAT, "columns": columns}
        for key in ("missing", "decimal", "day_first"):
            if getattr(self, key) is not None:
                content[key] = getattr(self, key)
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, object]) -> Self:
        """The plan of plain values, as `to_dict` gives and users edit them.

        ValueError if a part is unknown or of another type.
        """
        if not isinstance(content, Mapping) or content.get("format") != _FORMAT:
            raise ValueError(f'a plan is an object with "format": "{_FORMAT}"')
        plan: Mapping[str, Any] = content
        known = {"format", *(field.name for field in fields(cls))}
        _refuse_unknown("the plan", content, known)
        columns = content.get("columns", {})
        if not isinstance(columns, Mapping):
            raise ValueError("the columns of a plan are an object with their names")
        parts = []
        usual = asdict(TextForm())
        for name, entry in columns.items():
            if not isinstance(entry, Mapping):
                raise ValueError(f"column {quoted(name)} of the plan is not an object")
            _refuse_unknown(f"column {quoted(name)} of the plan", entry, set(usual))
            values: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()
            }
            for key, value in values.items():
                kind = _TYPES.get(key, type(usual[key]))
                if not isinstance(value, kind):
                    raise ValueError(
                        f"{key} of column {quoted(name)} in the plan must be "
                        f"{getattr(kind, '__name__', kind)}, got {quoted(value)}"
                    )
            parts.append((name, TextForm(**values)))
        missing = plan.get("missing")
        return cls(
            tuple(parts),
            None if missing is None else tuple(map(str, missing)),
            plan.get("decimal"),
            plan.get("day_first"),
        )

    def to_text(self) -> str:
        """The plan in JSON, a column in each line."""
        content: dict[str, Any] = self.to_dict()
        columns = content.pop("columns")
        lines = [
            f"    {json.dumps(name, ensure_ascii=False)}: "
            f"{json.dumps(entry, ensure_ascii=False)}"
            for name, entry in columns.items()
        ]
        others = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in content.items()]
        body = ",\n".join([*others, '  "columns": {\n' + ",\n".join(lines) + "\n  }"])
        return "{\n" + body + "\n}\n"

    def save(self, path: str | Path) -> None:
        """Write the plan to a JSON file."""
        Path(path).write_text(self.to_text(), "utf-8", newline="\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read such a file; OSError, or ValueError if it is not a plan."""
        try:
            content = json.loads(Path(path).read_text("utf-8"))
            return cls.from_dict(content)
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} is not a plan in JSON: {error}") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _refuse_unknown(what: str, content: Mapping[str, Any], known: set[str]) -> None:
    """Raise ValueError if an object has an entry that is unknown."""
    for key in content:
        if key not in known:
            hint = near_names(key, [*known])
            raise ValueError(f"{what} has an unknown entry {quoted(key)}; {hint}")


# A plan, its plain values or the path of its file.
PlanLike = ReadingPlan | Mapping[str, object] | str | Path | None


def resolve_plan(plan: PlanLike) -> ReadingPlan | None:
    """A plan from itself, its plain values or the path of its file.

    TypeError if it is something else.
    """
    if plan is None or isinstance(plan, ReadingPlan):
        return plan
    if isinstance(plan, Mapping):
        return ReadingPlan.from_dict(plan)
    if isinstance(plan, str | Path):
        return ReadingPlan.load(plan)
    raise TypeError(
        f"plan must be a ReadingPlan, its values or a path, got {quoted(plan)}"
    )
