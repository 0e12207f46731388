"""When and with which version of the library a model was fitted."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from bayleaf.results.result import Shown
from bayleaf.version import __version__

# Seconds since 1970, by which builds that are to be reproducible tell their time.
EPOCH = "SOURCE_DATE_EPOCH"
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_VERSION = re.compile(r"[\w.+!-]{1,60}", re.ASCII)


def current_time() -> datetime:
    """The time in UTC, or that of `SOURCE_DATE_EPOCH`; ValueError if it is not one."""
    seconds = os.environ.get(EPOCH)
    if not seconds:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{EPOCH} should be a number of seconds since 1970, got {seconds!r}"
        ) from None


@dataclass(frozen=True)
class FitStamp(Shown):
    """Date and version of a fit."""

    date: str  # in UTC, ISO 8601, to the second
    version: str  # of this library

    @classmethod
    def now(cls) -> FitStamp:
        """The stamp of a fit that takes place now."""
        return cls(current_time().strftime(_FORMAT), __version__)

    def check_content(self) -> None:
        """Raise ValueError unless both have their form."""
        datetime.strptime(self.date, _FORMAT).replace(tzinfo=UTC)
        if not _VERSION.fullmatch(self.version):
            raise ValueError(f"{self.version[:60]!r} is not a version")

    def __str__(self) -> str:
        return f"{self.date} by bayleaf {self.version}"
