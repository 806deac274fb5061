"""Random blocks of ``random_compiled_blocks`` as source in C or Fortran 77."""

from __future__ import annotations

import math

import numpy as np

from random_compiled_blocks import MODES, MODULUS, Drawn, names_of, reset


class Writer:
    """Statements in one of the two languages."""

    def __init__(self, language: str) -> None:
        self.is_c, self.lines = language == "c", list[str]()

    def of(self, name: str, i: int) -> str:
        return f"{name}[{i}]" if self.is_c else f"{name.upper()}({i + 1})"

    def number(self, value: float) -> str:
        text = repr(float(value))
        if not self.is_c:
            text = text.replace("e", "D") if "e" in text else f"{text}D0"
        return f"({text})" if value < 0 else text

    def add(self, text: str) -> None:
        if self.is_c:
            self.lines.append(f"    {text};")
            return
        while len(text) > 64:
            cut = text.rfind(" ", 0, 64)
            self.lines.append(f"      {text[:cut]}" if not text.startswith("&") else f"     +{text[1:cut]}")
            text = "&" + text[cut:]
        self.lines.append(f"     +{text[1:]}" if text.startswith("&") else f"      {text}")

    def when(self, left: str, relation: str, right: object) -> None:
        words = {"==": ".EQ.", "!=": ".NE.", ">": ".GT."}
        self.lines.append(f"    if ({left} {relation} {right}) {{" if self.is_c else f"      IF ({left} {words[relation]} {right}) THEN")

    def end(self) -> None:
        self.lines.append("    }" if self.is_c else "      ENDIF")

    def sum(self, target: str, terms: list[tuple[float, str]], constant: float = 0.0) -> None:
        """One statement a term, so that lines stay short."""
        self.add(f"{target} = {self.number(constant)}")
        for factor, name in terms:
            if factor != 0.0:
                self.add(f"{target} = {target} + {self.number(factor)} * {name}")

    def routine(self, name: str, arguments: str) -> None:
        """Arguments as ``icall,T,x,...``: all are addresses."""
        integers = {
            "icall",
            "ip",
            "lp",
            "iuser",
            "luser",
            "ierr",
            "iopt",
            "info",
            "sig",
            "dim",
            "tevent",
            "hcross",
            "dimnew",
            "hinfo",
            "iprior",
            "njac",
        }
        names = arguments.split(",")
        if self.is_c:
            typed = [f"{'int' if one in integers and one != 'tevent' else 'double'} *{one}" for one in names]
            self.lines.append(f"void {name}({', '.join(typed)}) {{")
            self.lines.append("    double r[9]; int k; (void)r; (void)k;")
            return
        self.lines += [f"      SUBROUTINE {name.upper()} ("]
        self.lines += [f"     +  {one.upper()}{',' if one != names[-1] else ')'}" for one in names]
        for one in names:
            if one in ("lp", "luser"):
                self.lines.append(f"      LOGICAL {one.upper()}(*)")
            elif one in integers and one != "tevent":
                self.lines.append(f"      INTEGER {one.upper()}(*)")
            else:
                self.lines.append(f"      DOUBLE PRECISION {one.upper()}(*)")
        self.lines += ["      DOUBLE PRECISION R(9)", "      INTEGER K"]

    def close(self) -> None:
        self.lines.append("}\n" if self.is_c else "      END\n")

    def call(self, utility: str, *arguments: str) -> None:
        self.add(f"c{utility}({', '.join(arguments)})" if self.is_c else f"CALL {utility.upper()} ({', '.join(arguments)})")

    def text(self, name: str) -> str:
        return f'"{name}"' if self.is_c else f"'{name}'"


POINT = "icall,t,x,xd,u,dp,ip,lp"
MEMORY = "duser,iuser,luser,ierr"


def written(drawn: Drawn) -> str:
    """Its source."""
    w = Writer(drawn.language)
    _write_definition(drawn, w)
    _write_start(drawn, w)
    _write_rates(drawn, w)
    if drawn.has_jacobian:
        _write_jacobian(drawn, w)
    _write_outputs(drawn, w)
    _write_event(drawn, w)
    return "\n".join(w.lines) + "\n"


def _declare(w: Writer, letter: str, name: str, n: int, split: int) -> None:
    """Elements as scalars, one array, or a scalar and an array: the first two of them."""
    blank = w.text(" ")
    first = 0 if split == 1 else min(1 if split == 2 else n, n)
    for i in range(first):
        w.call(f"blo3s{letter}", w.text(f"{name}{i}"), blank)
    if n > first:
        if w.is_c:
            w.add(f"k = {n - first}")
            w.call(f"blo3t{letter}", w.text(f"{name}A"), blank, "1", "&k")
        else:  # a scalar where an array is expected: of that time
            w.call(f"blo3t{letter}", w.text(f"{name}A"), blank, "1", str(n - first))


def _write_definition(drawn: Drawn, w: Writer) -> None:
    n = drawn.n + drawn.n_q
    w.routine(f"{drawn.prefix}b", f"iopt,info,sig,dim,t0,x0,xd0,dp,ip,lp,{MEMORY}")
    w.when(w.of("iopt", 0), "==", 1)
    w.add(f"{w.of('info', 0)} = 1")
    w.end()
    w.when(w.of("iopt", 0), "==", 2)
    for i, value in enumerate([drawn.is_dae, drawn.has_steps, drawn.has_jacobian]):
        w.add(f"{w.of('info', i)} = {int(value)}")

    def count(size: int, split: int) -> int:
        return len({name.split("[")[0] for name in names_of("X", size, split)})

    for i, value in enumerate([count(n, drawn.splits[0]), drawn.n_u, 2, count(drawn.n_z, drawn.splits[1]), 4, len(drawn.kinds)]):
        w.add(f"{w.of('sig', i)} = {value}")
    for i, value in enumerate([n, drawn.n_u, 2, drawn.n_z, 4, 7, 5, 1, 3, 4, 1]):
        w.add(f"{w.of('dim', i)} = {value}")
    w.end()
    w.when(w.of("iopt", 0), "==", 3)
    blank = w.text(" ")
    _declare(w, "x", "X", n, drawn.splits[0])
    _declare(w, "z", "Z", drawn.n_z, drawn.splits[1])
    for i in range(drawn.n_u):
        w.call("blo3su", w.text(f"U{i}"), blank)
    for name in ("Y0", "Y1"):
        w.call("blo3sy", w.text(name), blank)
    for name in ("SIG", "MODE", "STORED", "COUNT"):
        w.call("blo3sw", w.text(name), blank)
    places = {"dp": 0, "ip": 0, "lp": 0}
    for kind in drawn.kinds:
        letter, vector = {"r": ("d", "dp"), "i": ("i", "ip"), "l": ("l", "lp")}[kind[0]]
        if kind.endswith("s"):
            shape = {"reals": (2, 3), "integers": (4,)}[kind]
            if w.is_c:
                w.add(f'{{ int shape[] = {{{", ".join(map(str, shape))}}}; cblo3r{letter}("{kind.upper()}", " ", {len(shape)}, shape); }}')
            else:
                w.lines.append("C")
                for i, size in enumerate(shape):
                    w.add(f"IUSER({i + 1}) = {size}")
                w.call(f"blo3r{letter}", w.text(kind.upper()), blank, str(len(shape)), "IUSER")
                w.add("IUSER(1) = 0")
                w.add("IUSER(2) = 0")
        else:
            w.call(f"blo3p{letter}", w.text(kind.upper()), blank)
        for value in drawn.values[kind]:
            given = w.number(value) if vector == "dp" else str(int(value)) if vector == "ip" or w.is_c else (".TRUE." if value else ".FALSE.")
            w.add(f"{w.of(vector, places[vector])} = {given}")
            places[vector] += 1
    if w.is_c:
        w.add("{ int gui[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}")
        w.call("blo3ux", "1", "gui", str(int(drawn.uses_rates)), "0")
        w.lines.append("    }")
    else:
        w.call("blo3ux", "1", "IUSER", str(int(drawn.uses_rates)), "0")
    for i in range(drawn.n):
        w.add(f"{w.of('x0', i)} = {w.number(drawn.x0[i])}")
    w.end()
    w.close()


def place(drawn: Drawn, name: str, element: int) -> str:
    """Where an element of a parameter lies: its vector's name and place."""
    vector, at = {"r": "dp", "i": "ip", "l": "lp"}[name[0]], 0
    for kind in drawn.kinds:
        if kind == name:
            break
        if kind[0] == name[0]:
            at += len(drawn.values[kind])
    return f"{vector} {at + element}"


def _write_start(drawn: Drawn, w: Writer) -> None:
    w.routine(f"{drawn.prefix}s", f"t0,x0,xd0,u0,dp,ip,lp,tevent,hcross,dimnew,{MEMORY}")
    for i in range(4):
        w.add(f"{w.of('iuser', i)} = 0")
    if drawn.ticks[-1]:
        w.add(f"{w.of('tevent', 0)} = {w.of('t0', 0)} + {w.number(drawn.ticks[-1])}")
        if drawn.reach[-1]:
            w.add(f"{w.of('tevent', 1)} = {w.of('tevent', 0)} + {w.number(drawn.reach[-1])}")
    _write_dimensions(drawn, w, 0)
    w.close()


def _write_dimensions(drawn: Drawn, w: Writer, mode: int) -> None:
    for i in range(drawn.n_z):
        w.add(f"{w.of('hcross', i)} = {drawn.directions[mode][i]}")
    w.add(f"{w.of('dimnew', 0)} = {drawn.nx[mode] + drawn.n_q}")
    w.add(f"{w.of('dimnew', 1)} = {drawn.nz[mode]}")


def _write_shared(drawn: Drawn, w: Writer) -> None:
    """What F, G, H and K have in common, kept in the block's memory as long as ICALL(1) is 1."""
    w.when(w.of("icall", 0), "==", 0)
    w.sum(w.of("duser", 0), [*((gain, w.of("u", i)) for i, gain in enumerate(drawn.gains)), (drawn.slope, w.of("t", 0))])
    for k in range(MODES):
        w.when(w.of("iuser", 0), "==", k)
        w.sum(w.of("duser", 1), [(drawn.w[i], w.of("x", i)) for i in range(drawn.nx[k])])
        w.end()
    w.add(f"{w.of('icall', 0)} = 1")
    w.end()


def _write_rates(drawn: Drawn, w: Writer) -> None:
    w.routine(f"{drawn.prefix}f", f"{POINT},f,{MEMORY}")
    if drawn.has_steps:
        w.when(w.of("icall", 2), "==", 1)
        w.add(f"{w.of('icall', 2)} = 0")
        w.when(w.of("iuser", 2), "==", 0)
        w.when(w.of("x", 0), ">", w.number(drawn.threshold))
        w.add(f"{w.of('icall', 2)} = 1")
        w.end()
        w.end()
        w.add("return" if w.is_c else "RETURN")
        w.end()
    _write_shared(drawn, w)
    for k in range(MODES):
        n = int(drawn.nx[k])
        w.when(w.of("iuser", 0), "==", k)
        for i in range(n):
            rate = w.of("r", i) if drawn.is_dae else w.of("f", i)
            terms = [(drawn.a[k][i][j], w.of("x", j)) for j in range(n)] + [(drawn.b[k][i], w.of("duser", 0)), (drawn.d[k][i], w.of("duser", 1))]
            if drawn.n_q:
                terms.append((drawn.aq[k][i], w.of("x", n)))
            w.sum(rate, terms, drawn.c[k][i])
            name, element, factor = drawn.parameter_of(i)
            vector, at = place(drawn, name, element).split()
            if vector == "lp":
                if w.is_c:
                    w.when(w.of("lp", int(at)), "!=", 0)
                else:
                    w.lines.append(f"      IF ({w.of('lp', int(at))}) THEN")
                w.add(f"{rate} = {rate} + {w.number(factor)}")
                w.end()
            else:
                w.add(f"{rate} = {rate} + {w.number(factor)} * {w.of(vector, int(at))}")
        if drawn.is_dae:
            for i in range(n):
                w.add(f"{w.of('r', i)} = {w.of('xd', i)} - {w.of('r', i)}")
            if drawn.n_q:
                q = w.of("r", n)
                w.sum(q, [(1.0, w.of("x", n)), *((-drawn.qx[j], w.of("x", j)) for j in range(n)), (-drawn.qs, w.of("duser", 0))], -drawn.qc)
            for i in range(n + drawn.n_q):
                w.sum(w.of("f", i), [(drawn.mixing[i][j], w.of("r", j)) for j in range(n + drawn.n_q)])
        w.end()
    w.close()


def _write_jacobian(drawn: Drawn, w: Writer) -> None:
    w.routine(f"{drawn.prefix}j", f"{POINT},cj,jac,njac,{MEMORY}")
    for k in range(MODES):
        n = int(drawn.nx[k])
        m = n + drawn.n_q
        by_x, by_xd = np.zeros((m, m)), np.zeros((m, m))
        by_x[:n, :n] = drawn.a[k][:n, :n] + np.outer(drawn.d[k][:n], drawn.w[:n])
        if drawn.n_q:
            by_x[:n, n] = drawn.aq[k][:n]
        if drawn.is_dae:
            by_x[:n] *= -1.0
            by_xd[:n, :n] = np.eye(n)
            if drawn.n_q:
                by_x[n, :n], by_x[n, n] = -drawn.qx[:n], 1.0
            by_x, by_xd = drawn.mixing[:m, :m] @ by_x, drawn.mixing[:m, :m] @ by_xd
        w.when(w.of("iuser", 0), "==", k)
        for j in range(m):
            for i in range(m):
                text = w.number(by_x[i][j]) + (f" + {w.number(by_xd[i][j])} * {w.of('cj', 0)}" if drawn.is_dae else "")
                w.add(f"{w.of('jac', j * m + i)} = {text}")
        w.end()
    w.close()


def _write_outputs(drawn: Drawn, w: Writer) -> None:
    w.routine(f"{drawn.prefix}g", f"{POINT},y,{MEMORY}")
    _write_shared(drawn, w)
    for k in range(MODES):
        n = int(drawn.nx[k])
        w.when(w.of("iuser", 0), "==", k)
        for i in range(2):
            terms = [(drawn.y[i][j], w.of("x", j)) for j in range(n)] + [(1.0, w.of("duser", 0)), (0.5, w.of("t", 0))]
            if i and n and drawn.uses_rates:
                terms.append((2.0, w.of("xd", 0)))
            if not i and drawn.n_q:
                terms.append((1.5, w.of("x", n)))
            w.sum(w.of("y", i), terms)
        w.end()
    w.close()
    w.routine(f"{drawn.prefix}k", f"{POINT},w,{MEMORY}")
    _write_shared(drawn, w)
    for i, value in enumerate([w.of("iuser", 1), w.of("iuser", 0), w.of("duser", 1), w.of("iuser", 3)]):
        w.add(f"{w.of('w', i)} = {value}")
    w.close()
    if not drawn.n_z:
        return
    w.routine(f"{drawn.prefix}h", f"{POINT},z,{MEMORY}")
    _write_shared(drawn, w)
    for k in range(MODES):
        n = int(drawn.nx[k])
        w.when(w.of("iuser", 0), "==", k)
        for i in range(int(drawn.nz[k])):
            w.sum(w.of("z", i), [*((drawn.zx[k][i][j], w.of("x", j)) for j in range(n)), (drawn.zs[k][i], w.of("duser", 0))], drawn.zc[k][i])
            if drawn.scales:
                w.add(f"{w.of('z', i)} = {w.of('z', i)} * ({w.number(1.0)} + {w.of('duser', 1)} * {w.of('duser', 1)})")
        w.end()
    w.close()


def _write_event(drawn: Drawn, w: Writer) -> None:
    w.routine(f"{drawn.prefix}v", f"icall,iopt,t,x,xd,u,dp,ip,lp,z,hinfo,tevent,hcross,dimnew,iprior,{MEMORY.replace('ierr', 'info')}")
    signature = w.of("iuser", 1)
    w.add(f"{signature} = 7 * {signature} + {w.of('iopt', 0)} + 2 * {w.of('iopt', 1)} + 4 * {w.of('iopt', 2)}")
    w.when(w.of("iopt", 1), "==", 1)
    for k in range(MODES):
        w.when(w.of("iuser", 0), "==", k)
        for i in range(int(drawn.nz[k])):
            w.add(f"{signature} = {signature} + {8 * 2**i} * {w.of('hinfo', i)}")
        w.end()
    w.end()
    w.add(f"{signature} = {signature} - {MODULUS} * ({signature} / {MODULUS})")
    w.add(f"{w.of('icall', 0)} = 0")
    w.when(w.of("iopt", 2), "==", 1)
    w.add(f"{w.of('iuser', 2)} = 1")
    w.end()
    count = w.of("iuser", 3)
    w.add(f"k = {count} - {MODES} * ({count} / {MODES})")
    w.add(f"{count} = {count} + 1")
    for e in range(MODES):
        w.when("k" if w.is_c else "K", "==", e)
        w.when(w.of("iopt", 0), "==", 1)
        if drawn.ticks[e]:
            w.add(f"{w.of('tevent', 0)} = {w.of('t', 0)} + {w.number(drawn.ticks[e])}")
            if drawn.reach[e]:
                w.add(f"{w.of('tevent', 1)} = {w.of('tevent', 0)} + {w.number(drawn.reach[e])}")
        w.end()
        if drawn.restarts[e]:
            w.add(f"{w.of('info', 0)} = 1")
            for k in range(MODES):
                new = (k + 1) % MODES
                w.when(w.of("iuser", 0), "==", k)
                for i in range(int(drawn.nx[new])):
                    value = reset(drawn, e, k, i)
                    if not math.isnan(value):
                        w.add(f"{w.of('x', i)} = {w.number(value)}")
                _write_dimensions(drawn, w, new)
                w.end()
            mode = w.of("iuser", 0)
            w.add(f"{mode} = {mode} + 1")
            w.when(mode, "==", MODES)
            w.add(f"{mode} = 0")
            w.end()
        w.end()
    w.close()
