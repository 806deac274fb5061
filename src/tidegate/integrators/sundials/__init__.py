"""SUNDIALS as an independent engine: IDAS and CVODES of the official wheel, on the addresses of the compiled model's functions."""

__all__: list[str] = []
