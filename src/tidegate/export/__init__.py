"""Files and tables for other programs (stage after the results). In goes a ``Result``, out come NetCDF, CSV and pandas, and back."""

from tidegate.export.appended import Appended, part_of
from tidegate.export.load import load
from tidegate.export.netcdf import to_netcdf
from tidegate.export.save import FORMATS, format_of, save
from tidegate.export.table import to_csv, to_dataframe

__all__ = ["FORMATS", "Appended", "format_of", "load", "part_of", "save", "to_csv", "to_dataframe", "to_netcdf"]
