"""A model as flat native functions on flat vectors."""

from tidegate.compiled.compile import compile_model
from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.from_callables import compile_callables
from tidegate.compiled.traced_callables import compile_traced

__all__ = ["CompiledModel", "compile_callables", "compile_model", "compile_traced"]
