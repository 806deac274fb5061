"""The output program TRANS (stage after pictures and files): tables and plots of any result, by commands or from Python.

In goes a ``Result``, out come teletype tables, plots of characters, strip and overlay plots, CSV and Markdown.
"""

from tidegate.trans.channels import Channel
from tidegate.trans.heading import heading
from tidegate.trans.pictures import overlay_plot, strip_plot
from tidegate.trans.program import OutputProgram
from tidegate.trans.scales import Scale, convenient_scale, round_step
from tidegate.trans.selection import Selection, Window, choose
from tidegate.trans.tables import csv_table, markdown_table, printer_table, teletype_table
from tidegate.trans.terminal import StreamTerminal, Terminal
from tidegate.trans.terminal_plot import terminal_plot

__all__ = [
    "Channel",
    "OutputProgram",
    "Scale",
    "Selection",
    "StreamTerminal",
    "Terminal",
    "Window",
    "choose",
    "convenient_scale",
    "csv_table",
    "heading",
    "markdown_table",
    "overlay_plot",
    "printer_table",
    "round_step",
    "strip_plot",
    "teletype_table",
    "terminal_plot",
]
