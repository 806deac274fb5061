"""The dialogue of CONDIS: what is asked before a run and in front of its errors, as a machine of questions and answers, and those who may answer."""

from tidegate.frontends.processes.dialogue.answering import Answering, Function, Recorded, answering, converse
from tidegate.frontends.processes.dialogue.debugger import enter_debugger
from tidegate.frontends.processes.dialogue.errors_menu import Leave, error_talk
from tidegate.frontends.processes.dialogue.prologue import prologue_talk
from tidegate.frontends.processes.dialogue.questions import Debugging, EndOfAnswers, Question

__all__ = [
    "Answering",
    "Debugging",
    "EndOfAnswers",
    "Function",
    "Leave",
    "Question",
    "Recorded",
    "answering",
    "converse",
    "enter_debugger",
    "error_talk",
    "prologue_talk",
]
