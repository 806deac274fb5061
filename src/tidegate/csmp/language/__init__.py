"""The text of CSMP-10(ARL) (ARL/Aero. Note 362, 1976): statements, model files, diagnostics, sort order. Nothing is run here."""

from tidegate.csmp.language.block_kinds import NO_PARAMETERS, BlockStatement, Parameters
from tidegate.csmp.language.control import Control
from tidegate.csmp.language.diagnostics import Diagnostic, Notice, notice, say
from tidegate.csmp.language.model_lines import read, write
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.language.statements import ConfigurationReader, FunctionReader, Limits, Outcome, ParameterReader, StatementReader

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
