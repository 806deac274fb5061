"""Connections of DSblocks: blocks whose outputs drive inputs of others are one block."""

from tidegate.frontends.dsblock.join.connection import Connection, join

__all__ = ["Connection", "join"]
