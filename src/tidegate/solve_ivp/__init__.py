"""SciPy's ``solve_ivp`` on top of the pipeline of `simulate.py`: a function, start values and events in SciPy's words go in, a result like
SciPy's comes out.
"""

from tidegate.solve_ivp.ode_result import OdeResult, OdeSolution
from tidegate.solve_ivp.solve_ivp import solve_ivp

__all__ = ["OdeResult", "OdeSolution", "solve_ivp"]
