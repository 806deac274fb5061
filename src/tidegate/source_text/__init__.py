"""Models as source texts of programs in other languages: compiled blocks of DSblock 3.3 in C and Fortran."""

from tidegate.source_text.export_dsblock import ExportedBlock, export_dsblock

__all__ = ["ExportedBlock", "export_dsblock"]
