"""Van der Pol's oscillator as a block diagram in CSMP-10(ARL), run as in 1976 and as today.

The language's own method takes fixed steps by the mid-point rule, and every figure is that of 1976. The same program goes to the neutral model like
any other, with an integrator that keeps to a tolerance.
"""

import tidegate as tg

model = tg.csmp.load("""CONFIGURATIONS :
VAN DER POL OSCILLATOR
BLK TYPE B1 B2 B3
2 I 3 ; X
3 I 10 ; X DOT
4 X 2 2 ; X SQUARED
5 K
6 + 5 -4 ; 1-X SQRD
7 X 6 3
8 G 7 ; MU TERM
10 + 8 -2

PARAMETERS :
BLK P1 P2 P3
2 0.5
5 1
8 1.5

""")
t_span = (0.0, 10.0)

if __name__ == "__main__":
    print("executed in the order", *model.sort_list())
    then = tg.csmp.run(model, to=10, h=0.02, out=[2, 3], every=2)
    today = tg.simulate(model, t_span, outputs=2.0, rtol=1e-9)
    print("    t   X, 1976   X, today")
    for time, old, new in zip(then.times, then["X"], today["X"].values, strict=True):
        print(f"{time:5.1f} {old:9.5f} {new:10.5f}")
