"""A model as flat native functions on flat vectors."""

from tidegate.compiled.compile import compile_model
from tidegate.compiled.compiled_model import CompiledModel

__all__ = ["CompiledModel", "compile_model"]
