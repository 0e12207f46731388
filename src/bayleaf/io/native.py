"""The library's own model file: JSON, validated on reading, never executed.

A file holds the encoder's domain and rules, the graph, and the tables; numbers are
written so that they are read back bit for bit. Large tables stand in an ``.npz``
file beside it.
"""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.encoder import EncoderRules, TableEncoder
from bayleaf.io.atomic import replacing
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.models import domain_from, domain_to, model_from, model_to
from bayleaf.io.sidecar import ArrayReader, ArrayWriter, archive_path
from bayleaf.models.predictor import Predictor
from bayleaf.search.temperature import HIGHEST, LOWEST

FORMAT = "bayleaf-model"
SCHEMA_VERSION = 2
MAX_BYTES = 1 << 30
_LABEL_KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """All that a model file holds.

    Parameters
    ----------
    predictor : Predictor
        Encoder, model, class labels and loss.
    classifier : str
        Name of the estimator's class.
    parameters : dict
        The estimator's parameters as plain values.
    log_likelihood : float
        Training log-likelihood in nats.
    named_features : bool
        Whether the training table had column names.
    """

    predictor: Predictor
    classifier: str
    parameters: dict[str, Any] = field(default_factory=dict)
    log_likelihood: float = math.nan
    named_features: bool = True


def write_model(saved: SavedModel, path: str | Path) -> None:
    """Write a model file; an older file is replaced only when all is written.

    Raises
    ------
    TypeError
        If a label or parameter cannot stand in JSON.
    ValueError
        If a table does not hold distributions, or a number is not finite.
    OSError
        If the file cannot be written.
    """
    predictor = saved.predictor
    arrays = ArrayWriter()
    model: Any = model_to(predictor.model, arrays)
    archive = arrays.archive()
    document = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "classifier": saved.classifier,
        "parameters": saved.parameters,
        "log_likelihood": saved.log_likelihood,
        "named_features": saved.named_features,
        "label_type": _label_type(predictor.classes),
        "loss": None if predictor.loss is None else predictor.loss.ravel().tolist(),
        "temperature": predictor.temperature,
        "prior_shift": None
        if predictor.prior_shift is None
        else predictor.prior_shift.tolist(),
        "rules": _rules_to(predictor.encoder.rules),
        "notes": [[name, note] for name, note in predictor.encoder.notes.items()],
        "domain": domain_to(predictor.model.domain),
        "model": arrays.inlined(model) if archive is None else model,
        "arrays_sha256": None if archive is None else sha256(archive).hexdigest(),
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    with contextlib.ExitStack() as both:
        # Neither file takes its place before both are written.
        if archive is not None:
            beside = both.enter_context(replacing(archive_path(Path(path))))
            beside.write_bytes(archive)
        temporary = both.enter_context(replacing(path))
        temporary.write_text(f"{text}\n", encoding="utf-8")


def read_model(path: str | Path, *, max_bytes: int = MAX_BYTES) -> SavedModel:
    """Read a model file and check everything in it.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=2**30
        Larger files are refused.

    Raises
    ------
    ModelFileError
        If the file is no model file of this version, or holds something that is no
        model: one sentence says what.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    document = Fields(_parse(path, max_bytes), f"model file {path.name}")
    _check_header(document, path)
    try:
        return _saved_model(document, ArrayReader.beside(path, document, max_bytes))
    except ModelFileError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"model file {path.name} is damaged: {error}") from error


def _parse(path: Path, max_bytes: int) -> Any:
    """The JSON value in a file, once its size is known to be sane."""
    if path.is_dir():
        raise IsADirectoryError(f"cannot read {path}: it is a folder")
    try:
        with path.open("rb") as stream:
            # A pipe or device does not tell its size.
            content = stream.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise ModelFileError(
                f"model file {path.name} has more bytes than the limit of {max_bytes}; "
                "raise max_bytes if you trust it"
            )
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file: it is not JSON text"
        ) from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"cannot read {path}: there is no such file") from error
    except PermissionError as error:
        raise PermissionError(f"cannot read {path}: permission denied") from error
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys
        )
    except RecursionError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file: its values are nested too deeply"
        ) from error
    except ModelFileError as error:
        raise ModelFileError(f"model file {path.name} is damaged: {error}") from error
    except ValueError as error:
        raise ModelFileError(
            f"{path.name} is no bayleaf model file, or was cut short: {error}"
        ) from error


def _refuse_constant(name: str) -> Any:
    """Refuse NaN and infinity, which JSON itself does not know."""
    raise ModelFileError(f"it holds {name} where a number belongs")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, unless a key stands in it twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ModelFileError("a key stands twice in one object")
    return values


def _check_header(document: Fields, path: Path) -> None:
    """Raise unless the file says that it is ours and of a version we read."""
    if not isinstance(document.values, dict) or document.values.get("format") != FORMAT:
        raise ModelFileError(
            f'{path.name} is no bayleaf model file: it lacks "format": "{FORMAT}"'
        )
    version = document.values.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise ModelFileError(
            f"model file {path.name} has schema version {version!r}, but this bayleaf "
            f"reads version {SCHEMA_VERSION}; use the bayleaf that wrote it"
        )


def _saved_model(document: Fields, arrays: ArrayReader) -> SavedModel:
    """Build the model from a document whose header is right."""
    domain = domain_from(document.list("domain"))
    if len(domain) < 2:
        raise ModelFileError("a model needs at least one feature and the class")
    if not domain[-1].states or domain[-1].has_missing_state:
        raise ModelFileError("the class needs at least one state, and none for missing")
    model = model_from(document.object("model"), domain, arrays)
    classes = _labels(document, domain[-1].states)
    rules = _rules_from(document.object("rules"))
    notes = {
        Fields.name(entry[0]): str(entry[1])
        for entry in document.list("notes")
        if isinstance(entry, list) and len(entry) == 2
    }
    encoder = TableEncoder(type(domain)(domain.variables[:-1]), rules, notes)
    return SavedModel(
        predictor=Predictor(
            encoder,
            model,
            classes,
            _loss(document, len(classes)),
            _temperature(document),
            _prior_shift(document, len(classes)),
        ),
        classifier=document.text("classifier"),
        parameters=document.object("parameters").values,
        log_likelihood=document.number("log_likelihood"),
        named_features=document.flag("named_features"),
    )


def _label_type(classes: NDArray[Any]) -> str:
    """NumPy's letter for the type of the labels; "O" for mixed ones."""
    for label in classes.tolist():
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"class label {label!r} of type {type(label).__name__} has no place in "
                "a model file; use text or numbers as labels"
            )
    return classes.dtype.str if classes.dtype.kind in _LABEL_KINDS else "O"


def _labels(document: Fields, states: tuple[Any, ...]) -> NDArray[Any]:
    """The class labels as an array of the type they had."""
    kind = document.text("label_type")
    if kind == "O":
        labels = np.empty(len(states), dtype=object)
        labels[:] = states
        return labels
    letter = kind.lstrip("<>=|")[:1]
    wanted = _LABEL_KINDS.get(letter)
    fits = wanted is not None and all(type(state) is wanted for state in states)
    # Longer names than NumPy's own describe records or arrays of arrays.
    if not fits or (letter != "U" and np.dtype(kind).str != kind):
        raise ModelFileError(f"label_type {kind[:50]!r} does not fit the class labels")
    return np.array(states, dtype=np.str_ if letter == "U" else np.dtype(kind))


def _loss(document: Fields, n_classes: int) -> NDArray[np.float64] | None:
    """The loss matrix, or None."""
    if document.values.get("loss") is None:
        return None
    return ArrayReader().get(document.list("loss"), (n_classes, n_classes), "loss")


def _temperature(document: Fields) -> float:
    """The temperature of calibration."""
    temperature = document.number("temperature")
    if not LOWEST <= temperature <= HIGHEST:
        raise ModelFileError(
            f"temperature should be between {LOWEST} and {HIGHEST}, but is "
            f"{temperature:.6g}"
        )
    return temperature


def _prior_shift(document: Fields, n_classes: int) -> NDArray[np.float64] | None:
    """What a change of the class prior adds to calibrated log scores, or None."""
    if document.values.get("prior_shift") is None:
        return None
    return ArrayReader().get(document.list("prior_shift"), (n_classes,), "prior_shift")


def _rules_to(rules: EncoderRules) -> dict[str, Any]:
    """Encoder rules as plain values."""
    declared = rules.categorical_features
    return {
        "categorical_features": None if declared is None else list(declared),
        "missing": rules.missing,
        "unknown": rules.unknown,
        "max_states": int(rules.max_states),
    }


def _rules_from(values: Fields) -> EncoderRules:
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
