"""The classical methods as native integrators: their formulas on the vectors of a run, their step rules, behind the hooks of the hybrid loop."""

__all__: list[str] = []
