"""What a person adds to a model card: neither model nor table know it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bayleaf.models.fit_stamp import current_time


@dataclass(frozen=True, kw_only=True)
class About:
    """What a person adds to a model card.

    Parameters
    ----------
    purpose : str, optional
        What the model is for; line ends count as spaces. What is left out here and
        below is marked "to be filled in" on the card.
    users : str, optional
        Who is to use it.
    out_of_scope : str, optional
        What it is not to be used for.
    owner : str, optional
        Who answers for it, and how that person is reached.
    source : str, optional
        Where the table came from: the name of its file; folders before it are left out.
    collected : str, optional
        When the rows were collected.
    fitted : str, optional
        When the model was fitted, which `bayleaf inspect` shows.
    written : str, optional
        Date of the card. By default that of the environment variable
        ``SOURCE_DATE_EPOCH``, in seconds since 1970, or else today's, in UTC.
    """

    purpose: str | None = None
    users: str | None = None
    out_of_scope: str | None = None
    owner: str | None = None
    source: str | None = None
    collected: str | None = None
    fitted: str | None = None
    written: str | None = None

    @property
    def source_name(self) -> str | None:
        """The name of the table's file, without its folders."""
        if self.source is None:
            return None
        return self.source.replace("\\", "/").rstrip("/").rpartition("/")[2]

    def dated(self) -> About:
        """The same with the date of the card.

        Raises
        ------
        ValueError
            If `SOURCE_DATE_EPOCH` is no number of seconds.
        """
        if self.written is not None:
            return self
        return replace(self, written=current_time().date().isoformat())
