"""The text of CSMP-10(ARL) (ARL/Aero. Note 362, 1976): statements, model files, diagnostics, sort order. Nothing is run here."""

from tidegate.frontends.blocks.language.control import Control
from tidegate.frontends.blocks.language.diagnostics import Diagnostic, Notice, notice, say
from tidegate.frontends.blocks.language.program import NO_PARAMETERS, BlockStatement, CsmpProgram, Parameters
from tidegate.frontends.blocks.language.statements import ConfigurationReader, FunctionReader, Limits, Outcome, ParameterReader, StatementReader
from tidegate.frontends.blocks.language.stored import read, write

__all__ = [
    "NO_PARAMETERS",
    "BlockStatement",
    "ConfigurationReader",
    "Control",
    "CsmpProgram",
    "Diagnostic",
    "FunctionReader",
    "Limits",
    "Notice",
    "Outcome",
    "ParameterReader",
    "Parameters",
    "StatementReader",
    "notice",
    "read",
    "say",
    "write",
]
