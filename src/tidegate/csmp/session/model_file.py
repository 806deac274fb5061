"""A model file as the model input channel reads it (stage: the language's own method): section after section, as they are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tidegate.csmp.language.model_lines import text_of
from tidegate.csmp.language.sections import Section, SectionKind, sections_of

__all__ = ["ModelFile", "SectionMissing"]

_NAMES: Final[dict[SectionKind, str]] = {"CON": "CONFIGS", "PAR": "PARAMS", "FUN": "FUNCTS"}


class SectionMissing(Exception):  # noqa: N818, a refusal is answered by a diagnostic
    """A section is behind the reading point, or not in the file.

    Parameters
    ----------
    key : of the diagnostic.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class ModelFile:
    """A file of the model input channel and how far it has been read.

    Parameters
    ----------
    path : of the file, with headings or without.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sections = [section for section in sections_of(text_of(path)) if section.kind in _NAMES]
        self._next = 0

    def take(self, kind: SectionKind) -> Section:
        """The next section of a kind; others before it are skipped.

        Raises
        ------
        SectionMissing
            If there is none behind the reading point; that stays where it was.
        """
        found = [place for place, section in enumerate(self._sections) if section.kind == kind]
        ahead = [place for place in found if place >= self._next]
        if not ahead:
            raise SectionMissing(f"{_NAMES[kind]} ALREADY READ" if found else f"NO {_NAMES[kind]}")
        self._next = ahead[0] + 1
        return self._sections[ahead[0]]

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left to be read. Parameters are wanted even of a model that has none; an empty section says so."""
        return not any(section.lines or section.kind == "PAR" for section in self._sections[self._next :])
