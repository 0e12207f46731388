"""Audits of a classifier by groups: figures on rows, and how groups reach it."""

from bayleaf.evaluation.audits.audit import audit
from bayleaf.evaluation.audits.audit_result import Audit, ChangedCell
from bayleaf.evaluation.audits.parity import GroupProbability, ModelParity
from bayleaf.evaluation.audits.routes import Path, Proxy, Routes

__all__ = [
    "Audit",
    "ChangedCell",
    "GroupProbability",
    "ModelParity",
    "Path",
    "Proxy",
    "Routes",
    "audit",
]
