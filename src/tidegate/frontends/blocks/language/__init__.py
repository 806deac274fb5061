"""The text of CSMP-10(ARL) (ARL/Aero. Note 362, 1976): statements, model files, diagnostics, sort order. Nothing is run here."""

__all__: list[str] = []
