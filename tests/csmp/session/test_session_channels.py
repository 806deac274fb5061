"""Channels: units, names, devices, and the line that tells of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.csmp.session.commands import ChannelCommand, read_commands
from tidegate.csmp.session.session_channels import ChannelRefused, Channels


def command(text: str) -> ChannelCommand:
    (found,) = read_commands(text)
    assert isinstance(found, ChannelCommand)
    return found


def test_a_session_begins_with_the_reports_channels() -> None:
    assert [channel.status for channel in Channels().all()] == [
        "MODEL I/P FROM TTY:",
        "BLOCK O/P TO LOG1:OUTPT.DAT",
        "MODEL O/P TO LOG3:MODEL.MOD",
    ]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("LOG6:SPRNG<-M", "MODEL O/P TO LOG6:SPRNG.MOD"),
        ("LOG3:SPRNG<-MODEL", "MODEL O/P TO LOG3:SPRNG.MOD"),
        ("LOG1:OUT1<-O/P", "BLOCK O/P TO LOG1:OUT1.DAT"),
        ("LOG2:SPRNG<-I/P", "MODEL I/P FROM LOG2:SPRNG.MOD"),
        ("runs/first<-O", "BLOCK O/P TO runs/first.DAT"),
        ("TTY:<-M", "MODEL O/P TO TTY:"),
        ("TTY:<-I", "MODEL I/P FROM TTY:"),
    ],
)
def test_a_channel_command_changes_one_channel(text: str, status: str) -> None:
    assert Channels().change(command(text)).status == status


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("TTY:<-O", "BLK O/P CANNOT GO TO TTY"),
        ("LOG6:SPRNG.MOD<-M", "EXTENSIONS ALREADY SET"),
        ("LOG0:A<-M", "ILLEGAL DEVICE NAME"),
        ("LOG5:A<-M", "ILLEGAL DEVICE NAME"),
        ("LOG13:A<-M", "ILLEGAL DEVICE NAME"),
        ("LOG:A<-M", "ILLEGAL DEVICE NAME"),
        ("DTA3:A<-M", "ILLEGAL DEVICE NAME"),
        ("LOG1:A<-M", "LOGICAL UNIT ALREADY IN USE"),
        ("LOG3:A<-I", "LOGICAL UNIT ALREADY IN USE"),
        ("LOG6:A<-X", "SYNTAX ERROR"),
        ("LOG6:A<-", "SYNTAX ERROR"),
        ("LOG6:<-M", "SYNTAX ERROR"),
        ("TTY:A<-M", "SYNTAX ERROR"),
    ],
)
def test_a_channel_command_that_cannot_be_changes_nothing(text: str, key: str) -> None:
    channels = Channels()
    before = [channel.status for channel in channels.all()]
    with pytest.raises(ChannelRefused) as refused:
        channels.change(command(text))
    assert refused.value.key == key
    assert [channel.status for channel in channels.all()] == before


def test_unit_12_is_reserved_once_the_debug_file_is_open() -> None:
    channels = Channels()
    channels.change(command("LOG12:A<-M"))
    with pytest.raises(ChannelRefused):
        channels.reserve_debug()
    channels.change(command("LOG3:A<-M"))
    channels.reserve_debug()
    with pytest.raises(ChannelRefused):
        channels.change(command("LOG12:A<-M"))


def test_a_file_whose_suffix_is_in_small_letters_is_found(tmp_path: Path) -> None:
    (tmp_path / "spring.mod").touch()
    channel = Channels().change(command("spring<-I"))
    assert channel.path(tmp_path) == tmp_path / "spring.mod"
