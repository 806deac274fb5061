"""Every diagnostic of the report is said under its condition, in its words, and the session goes on."""

from __future__ import annotations

import pytest

from csmp_sessions import DECAY, RUN_DECAY, Stage
from tidegate.csmp.execution.routines import Routines
from tidegate.csmp.language.diagnostics import DIAGNOSTICS
from tidegate.csmp.language.statements import Limits
from tidegate.csmp.session.session_state import SessionState

F_BLOCK = ["CON", "2 F 1", "", "PAR", ""]
FUNCTION = [*F_BLOCK, "FUN", "2", "0 0", "1 1", "", ""]


def run_of(*statements: str, parameters: tuple[str, ...] = ()) -> list[str]:
    return ["TIT", "A", "CON", *statements, "", "PAR", *parameters, "", "INT", "0 1 .5", "OUT", "A", "0 .5", "GOE"]


# a diagnostic's key, replies that provoke it, and the words
PROVOKED: list[tuple[str, list[str], list[str]]] = [
    (
        "ATTEMPT TO DIVIDE BY ZERO",
        run_of("2 K", "3 / 2 4", "4 K", parameters=("2 1",)),
        ["ATTEMPT TO DIVIDE BY ZERO IN BLK 3", "ERROR DURING MODEL EXECUTION"],
    ),
    (
        "ATTEMPT TO TAKE SQRT",
        run_of("2 K", "3 H 2", parameters=("2 -1",)),
        ["ATTEMPT TO TAKE SQRT OF A -VE NO. IN BLK 3", "ERROR DURING MODEL EXECUTION"],
    ),
    ("BLK O/P CANNOT GO TO TTY", ["TTY:<-O"], ["BLK O/P CANNOT GO TO TTY"]),
    ("BLK 1 RESERVED FOR TIME", ["CON", "1 K", ""], ["BLK 1 RESERVED FOR TIME"]),
    ("ILLEGAL BLK TYPE", ["CON", "2 QQ 1", ""], ['BLK 2 HAS AN ILLEGAL BLK TYPE ("QQ")']),
    ("NOT AN F BLK", [*FUNCTION[:-2], "", "7", ""], ["BLK 7 IS NOT AN F BLK"]),
    ("BLK NOT USED", [*DECAY, "OUT", "9", "2", "", "0 1"], ["BLK 9 NOT USED"]),
    ("BLK NOT USED", [*DECAY, *RUN_DECAY, "LOO", "9", ""], ["BLK 9 NOT USED"]),
    ("COMMAND ERROR", ["XYZ"], ["COMMAND ERROR"]),
    ("COMMAND NO LONGER VALID", ["SIZE"], ["COMMAND NO LONGER VALID"]),
    ("CONFIGS ALREADY READ", ["LOG6:TWICE<-I", "CON", "CON"], ["CONFIGS ALREADY READ FROM MODEL I/P FILE"]),
    ("PARAMS ALREADY READ", ["LOG6:TWICE<-I", "CON", "PAR", "PAR"], ["PARAMS ALREADY READ FROM MODEL I/P FILE"]),
    ("FUNCTS ALREADY READ", ["LOG6:MANY<-I", "CON", "FUN", "FUN"], ["FUNCTS ALREADY READ FROM MODEL I/P FILE"]),
    ("NO CONFIGS", ["LOG6:PARS<-I", "CON"], ["NO CONFIGS IN MODEL I/P FILE"]),
    ("NO PARAMS", ["LOG6:CONS<-I", "CON", "LOG6:CONS<-I", "PAR"], ["NO PARAMS IN MODEL I/P FILE"]),
    ("NO FUNCTS", ["LOG6:CONS<-I", "CON", "LOG6:CONS<-I", "FUN"], ["NO FUNCTS IN MODEL I/P FILE"]),
    ("CONFIGS NOT COMPLETE", ["PAR", "FUN", "STO", "OUT"], ["CONFIGS NOT COMPLETE"] * 4),
    ("ERROR DURING MODEL EXECUTION", run_of("2 U1"), ["USER-DEFINED SUBROUTINE NOT LOADED FOR BLK 2", "ERROR DURING MODEL EXECUTION"]),
    ("USER-DEFINED SUBROUTINE NOT LOADED", run_of("2 U1"), ["USER-DEFINED SUBROUTINE NOT LOADED FOR BLK 2", "ERROR DURING MODEL EXECUTION"]),
    ("ERROR IN BLK", ["CON", "2 G 3 4", "2", ""], ["ERROR IN BLK 2", "ERROR IN BLK 2"]),
    ("EXTENSIONS ALREADY SET", ["LOG6:A.MOD<-M"], ["EXTENSIONS ALREADY SET"]),
    ("FATAL ATTEMPT", ["LOG6:GONE<-I", "CON"], ['FATAL ATTEMPT TO READ NON-EXISTENT DSK FILE "GONE"."MOD"']),
    ("FINAL TIME", ["INT", "1 0 .1"], ["FINAL TIME MUST NOT BE LESS THAN INITIAL TIME"]),
    ("FUNCTS NOT COMPLETE", [*F_BLOCK, "STO", "FUN", "STO", "ALL", "GOE"], ["FUNCTS NOT COMPLETE"] * 3),
    ("ILLEGAL DEVICE NAME", ["LOG5:A<-M"], ["ILLEGAL DEVICE NAME"]),
    ("IMPROPER PARAM SPECIFICATION", [*DECAY, "PAR", "2 1 2 3 4", "2 X", ""], ["IMPROPER PARAM SPECIFICATION"] * 2),
    ("IMPROPER PARAM SPECIFICATION", run_of("2 T1 3", "3 K"), ["IMPROPER PARAM SPECIFICATION"]),
    ("IMPROPER PARAM SPECIFICATION", ["INT", "0 1 0"], ["IMPROPER PARAM SPECIFICATION"]),
    ("INCORRECT RECORD", ["INT", "0 ten 1", "0 10 1"], ['INCORRECT RECORD "0 ten 1" ****']),
    ("INTEGN CONTROL PARAMS NEEDED", [*DECAY, "OUT", "A", "0 1", "GOE"], ["MORE WORK TO DO", "INTEGN CONTROL PARAMS NEEDED"]),
    ("O/P CONTROL PARAMS NEEDED", [*DECAY, "INT", "0 1 .1", "GOE"], ["MORE WORK TO DO", "O/P CONTROL PARAMS NEEDED"]),
    ("MORE WORK TO DO", [*DECAY, "GOE"], ["MORE WORK TO DO", "INTEGN CONTROL PARAMS NEEDED", "O/P CONTROL PARAMS NEEDED"]),
    ("INTEGN INTERVAL", ["INT", "0 1 2"], ["INTEGN INTERVAL MUST NOT BE GREATER THAN TIME RANGE"]),
    ("INVALID BLK NO.", ["4", "1 1 1", "CON", "5 K", "2.5 K", "0 K", ""], ["INVALID BLK NO."] * 3),
    (
        "ITERATION LIMIT",
        # y = 1 - y**3 with a tolerance of zero never settles
        run_of("2 V", "3 X 2 2", "4 X 3 2", "5 K", "6 + 5 -4", "7 Y 6 2", parameters=("2 .5", "5 1", "7 0 5")),
        [
            f"ITERATION LIMIT OF 5 EXCEEDED FOR V & Y BLKS 2 & 7 AT TIME {time}"
            for time in ("0.0000E-01", "2.5000E-01", "5.0000E-01", "7.5000E-01", "1.0000E+00")
        ],
    ),
    ("I/P NOT DEFINED", ["CON", "2 G 3", ""], ["I/P (BLK 3) TO BLK 2 IS NOT DEFINED"]),
    ("I/P B1 FOR UO BLK", ["CON", "2 UO 3", "3 K", ""], ["I/P B1 FOR UO BLK 2 IS NOT THE ASSOCIATED USER-DEFINED BLK 3"]),
    ("I/P B2 FOR Y BLK", ["CON", "2 Y 3 3", "3 K", ""], ["I/P B2 FOR Y BLK 2 IS NOT A V BLK"]),
    ("LOGICAL UNIT ALREADY IN USE", ["LOG1:A<-M"], ["LOGICAL UNIT 1 ALREADY IN USE"]),
    ("MAX OF F BLKS", ["9", "0 0 1", "CON", "2 F 1", "3 F 1", ""], ["MAX OF 1 F BLKS EXCEEDED"]),
    ("MAX OF I & T1 BLKS", ["9", "1 0 0", "CON", "2 I 1", "3 T1 1", ""], ["MAX OF 1 I & T1 BLKS EXCEEDED"]),
    ("MAX OF U BLKS", ["9", "0 0 0", "CON", "2 U 1", "3 K", ""], ["MAX OF 0 U BLKS EXCEEDED"]),
    (
        "MAX OF COORD PAIRS",
        ["9", "0 0 1", "CON", "2 F 1", "", "PAR", "", "FUN", "2", *(f"{k} 0" for k in range(17)), "", ""],
        ["MAX OF 1*15 COORD PAIRS EXCEEDED"] * 2,
    ),
    ("MODEL NOT COMPLETE", ["GOE", "CON", "2 K", "", "STO", "ALL"], ["MODEL NOT COMPLETE"] * 2),
    ("NO CORRESPONDING CONFIG STATEMENT", [*DECAY, "PAR", "9 1", ""], ["NO CORRESPONDING CONFIG STATEMENT"]),
    ("NOT ENOUGH CORE", ["200000000", "2", "0 0 0"], ["NOT ENOUGH CORE TO SET UP ARRAYS"]),
    ("PERIOD FOR T BLK", run_of("2 T 1"), ["PERIOD (P1) FOR T BLK 2 MUST BE GREATER THAN ZERO", "ERROR DURING MODEL EXECUTION"]),
    ("PNT WITH ABSCISSA", [*F_BLOCK, "FUN", "2", "3", "", ""], ["PNT WITH ABSCISSA '3.0000E+00' DOES NOT EXIST"]),
    ("SORT FAILURE", ["CON", "2 G 3", "3 G 2", ""], ["SORT FAILURE AT BLK 2"]),
    ("SYNTAX ERROR", ["GOE 5", *DECAY, "STO", "WHAT"], ["SYNTAX ERROR"] * 2),
]
FILES = {
    "TWICE": "CONFIGURATIONS :\nA\n2 F 1\n\nPARAMETERS :\nBLK P1 P2 P3\n2 0\n\nFUNCTIONS :\nBLK NO. 2\nCOORD PAIRS :\n0 0\n1 1\n\n\n",
    "MANY": "CONFIGURATIONS :\nA\n2 F 1\n\nFUNCTIONS :\nBLK NO. 2\nCOORD PAIRS :\n0 0\n1 1\n\n\nPARAMETERS :\nBLK P1 P2 P3\n2 0\n\n",
    "PARS": "PARAMETERS :\nBLK P1 P2 P3\n2 1\n\n",
    "CONS": "CONFIGURATIONS :\nA\nBLK TYPE B1 B2 B3\n2 K\n\n",
}
# a user routine is needed in the first case, more functions than the start was told of in the second; the third was the loader's of 1976
ELSEWHERE = {"NOT A UO BLK", "MAX OF FUNCTS", "CODE PRIOR TO CALL TO EXPAND"}


@pytest.mark.parametrize(("key", "replies", "words"), PROVOKED, ids=[f"{key}-{place}" for place, (key, _, _) in enumerate(PROVOKED)])
def test_a_diagnostic_is_said_under_its_condition(stage: Stage, key: str, replies: list[str], words: list[str]) -> None:
    for name, text in FILES.items():
        (stage.folder / f"{name}.MOD").write_text(text)
    played = stage.script(*replies)
    assert played.diagnostics == words
    warnings = len(words) if key == "ITERATION LIMIT" else 0
    assert played.ended.n_diagnostics == len(words) - warnings
    assert played.ended.is_fatal == (key == "FATAL ATTEMPT")


def test_every_diagnostic_of_the_report_has_a_program_that_provokes_it() -> None:
    assert set(DIAGNOSTICS) - {key for key, _, _ in PROVOKED} == ELSEWHERE


def test_a_model_larger_than_the_sizes_takes_no_more_functions(stage: Stage) -> None:
    state = SessionState(limits=Limits(functions=1))
    model = stage.script("CON", "2 F 1", "3 F 1", "", "PAR", "", "FUN", "2", "0 0", "", "").state.program
    state.program, state.has_configurations = model, True
    assert stage.script("FUN", "3", "", state=state).diagnostics == ["MAX OF 1 FUNCTS EXCEEDED"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("3 K", "BLK 3 IS NOT A UO BLK"),
        ("3 UO 4", "I/P B1 FOR UO BLK 3 IS NOT THE ASSOCIATED USER-DEFINED BLK 2"),
    ],
)
def test_a_routine_sets_its_own_additional_outputs_only(stage: Stage, other: str, words: str) -> None:
    def routine(ctx: object, block: int) -> float:
        ctx.set_uo(block + 1, 1.0)
        return 0.0

    played = stage.script(*run_of("2 U1", other, "4 U1"), routines=Routines({1: routine}))
    assert played.diagnostics == [words, "ERROR DURING MODEL EXECUTION"]
