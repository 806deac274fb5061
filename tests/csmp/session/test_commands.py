"""Lines of commands: three letters are enough, strings are carried out in turn, and what is no command is said to be none."""

from __future__ import annotations

import pytest

from tidegate.csmp.session.commands import ChannelCommand, Command, Unreadable, Word, read_commands


@pytest.mark.parametrize("word", [word for word in Word if word is not Word.HELP])
def test_three_letters_of_a_command_are_enough_in_any_case(word: Word) -> None:
    for text in (word.value, word.value[:3], word.value.lower(), word.value[:3].title(), f"{word.value[:3]}XYZ"):
        (command,) = read_commands(text)
        assert isinstance(command, Command)
        assert command.word is word


def test_a_string_of_commands_is_taken_apart_at_semicolons() -> None:
    commands = read_commands("INT; OUT;;LOG1:OUT1<-O ;GOE $ the same; once more")
    assert [command.text for command in commands] == ["INT", "OUT", "LOG1:OUT1<-O", "GOE"]


@pytest.mark.parametrize("line", ["", "   ", ";", "$ nothing"])
def test_an_empty_line_holds_no_command(line: str) -> None:
    assert read_commands(line) == []


@pytest.mark.parametrize("arrow", ["<-", "_", "←"])
def test_the_arrow_of_1963_is_written_in_three_ways(arrow: str) -> None:
    (command,) = read_commands(f"LOG6:SPRNG {arrow} MODEL")
    assert command == ChannelCommand("LOG6", "SPRNG", "MODEL", f"LOG6:SPRNG {arrow} MODEL")


@pytest.mark.parametrize(
    ("text", "device", "name"),
    [
        ("TTY:<-M", "TTY", ""),
        ("tty:<-i", "TTY", ""),
        ("log12:a/b_c<-O", "LOG12", "a/b_c"),
        ("models/spring<-I", "", "models/spring"),
        (r"C:\models\spring<-I", "", r"C:\models\spring"),
        ("DTA3:SPRNG<-I", "DTA3", "SPRNG"),
        ("LOG:SPRNG<-I", "LOG", "SPRNG"),
    ],
)
def test_a_channel_command_has_device_name_and_channel(text: str, device: str, name: str) -> None:
    (command,) = read_commands(text)
    assert isinstance(command, ChannelCommand)
    assert (command.device, command.name) == (device, name)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("GO", "COMMAND ERROR"),
        ("XYZ", "COMMAND ERROR"),
        ("12", "COMMAND ERROR"),
        ("^", "COMMAND ERROR"),
        ("GOE 5", "SYNTAX ERROR"),
        ("CON, 2", "SYNTAX ERROR"),
        ("LOG3:MODEL", "SYNTAX ERROR"),
        ("ASSIGN DTA3 1", "COMMAND NO LONGER VALID"),
    ],
)
def test_what_is_no_command_says_so(text: str, key: str) -> None:
    (command,) = read_commands(text)
    assert isinstance(command, Unreadable)
    assert command.key == key


def test_a_slip_gets_the_close_command_as_a_hint() -> None:
    (command,) = read_commands("PRA")
    assert isinstance(command, Unreadable)
    assert command.hint in {"PARAMETER", "PROGRAM"}


def test_a_question_mark_asks_for_help() -> None:
    assert read_commands("?") == [Command(Word.HELP, "?")]
    assert read_commands("? con") == [Command(Word.HELP, "? con", "con")]
