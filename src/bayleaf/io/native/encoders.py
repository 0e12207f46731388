"""How a model reads columns, as plain values, and back with every check."""

from __future__ import annotations

from typing import Any

from bayleaf.data.domain import Domain
from bayleaf.data.encoder.rules import EncoderRules
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.io.fields import Fields


def rules_to(rules: EncoderRules) -> dict[str, Any]:
    """Encoder rules as plain values."""
    declared = rules.categorical_features
    return {
        "categorical_features": None if declared is None else list(declared),
        "missing": rules.missing,
        "unknown": rules.unknown,
        "max_states": int(rules.max_states),
    }


def rules_from(values: Fields) -> EncoderRules:
    """Encoder rules from plain values."""
    declared = values.values.get("categorical_features")
    return EncoderRules(
        categorical_features=None
        if declared is None
        else tuple(
            item if isinstance(item, bool) else Fields.name(item)
            for item in values.list("categorical_features")
        ),
        missing=values.choice("missing", ("marginalize", "state", "error")),  # type: ignore[arg-type]
        unknown=values.choice("unknown", ("missing", "error")),  # type: ignore[arg-type]
        max_states=values.count("max_states"),
    )


def encoder_to(encoder: TableEncoder) -> dict[str, Any]:
    """What a document holds of an encoder beside its domain."""
    return {
        "rules": rules_to(encoder.rules),
        "notes": [[name, note] for name, note in encoder.notes.items()],
    }


def encoder_from(document: Fields, domain: Domain) -> TableEncoder:
    """The encoder over a domain, from a document with rules and remarks on columns."""
    notes = {
        Fields.name(entry[0]): str(entry[1])
        for entry in document.list("notes")
        if isinstance(entry, list) and len(entry) == 2
    }
    return TableEncoder(domain, rules_from(document.object("rules")), notes)
