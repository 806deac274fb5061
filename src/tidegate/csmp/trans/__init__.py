"""The output program TRANS (it needs results and pictures only): tables and plots of any result, by commands or from Python.

In goes a ``Result``, out come teletype tables, plots of characters, strip and overlay plots, CSV and Markdown.
"""

from tidegate.csmp.trans.ask import Questioner, StreamTerminal
from tidegate.csmp.trans.heading import heading
from tidegate.csmp.trans.output_program import OutputProgram
from tidegate.csmp.trans.pictures import overlay_plot, strip_plot
from tidegate.csmp.trans.printed_tables import csv_table, markdown_table, printer_table, teletype_table
from tidegate.csmp.trans.result_channels import ResultChannel
from tidegate.csmp.trans.scales import Scale, convenient_scale, round_step
from tidegate.csmp.trans.selection import Selection, Window, choose
from tidegate.csmp.trans.terminal_plot import terminal_plot

__all__ = [
    "OutputProgram",
    "Questioner",
    "ResultChannel",
    "Scale",
    "Selection",
    "StreamTerminal",
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
