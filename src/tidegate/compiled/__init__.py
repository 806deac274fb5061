"""A model as flat native functions on flat vectors."""

from tidegate.compiled.compile import compile_model
from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.from_callables import compile_callables

__all__ = ["CompiledModel", "compile_callables", "compile_model"]
