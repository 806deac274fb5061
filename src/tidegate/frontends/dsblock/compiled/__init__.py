"""Blocks of DSblock 3.3 compiled from C or Fortran: built, loaded, defined by their BLOCKB, and called natively within steps."""

from tidegate.frontends.dsblock.compiled.interface import CompiledDSblock, build, load

__all__ = ["CompiledDSblock", "build", "load"]
