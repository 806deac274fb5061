"""A person at a terminal answers a dialogue, by prompt_toolkit (stage: front end)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.frontends.processes.dialogue.questions import EndOfAnswers, Question

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

__all__ = ["TerminalAnswers"]


class TerminalAnswers:
    """Asks a person: choices are completed by the tabulator, and shown below a question that has several.

    Parameters
    ----------
    source, sink : other than the process's own terminal.
    """

    def __init__(self, *, source: Input | None = None, sink: Output | None = None) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.shortcuts import CompleteStyle

        self._session: PromptSession[str] = PromptSession(
            complete_while_typing=False, complete_style=CompleteStyle.READLINE_LIKE, reserve_space_for_menu=0, input=source, output=sink
        )

    def answer(self, question: Question) -> str:
        """What the person types; Ctrl-D ends the dialogue."""
        from prompt_toolkit.completion import WordCompleter

        if question.kind == "choice":
            self.tell(f"  {', '.join(question.choices)}")
        try:
            return self._session.prompt(question.prompt, completer=WordCompleter(list(question.choices), ignore_case=True))
        except EOFError:
            raise EndOfAnswers from None

    def tell(self, text: str) -> None:
        """Show lines."""
        self._session.output.write(f"{text}\n")
        self._session.output.flush()
