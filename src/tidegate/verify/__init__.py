"""A judge that shares nothing with the run: the model called as plain Python along the dense result (`tg.verify`)."""

from tidegate.verify.verification import Finding, Verification
from tidegate.verify.verify import verify

__all__ = ["Finding", "Verification", "verify"]
