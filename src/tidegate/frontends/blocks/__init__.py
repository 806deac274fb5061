"""Block diagrams: blocks with ports, connected by calls or expressions, and the language CSMP-10(ARL) that describes the same thing in text."""

__all__: list[str] = []
