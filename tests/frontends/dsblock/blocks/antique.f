C     Two masses on springs in the manner of 1978: BLOCK DATA, COMMON,
C     EQUIVALENCE, statement functions, ENTRY, arithmetic IF, computed
C     GO TO. x'' = -w**2 x + f and an exponential decay beside it.
      BLOCK DATA ANTDAT
      COMMON /ANTCOM/ W, DECAY, NCALL, NKICK, TITLE
      DOUBLE PRECISION W, DECAY
      INTEGER NCALL, NKICK
      CHARACTER*8 TITLE
      DATA W, DECAY /2.0D0, 0.5D0/, NCALL, NKICK /2*0/
      DATA TITLE /'ANTIQUE'/
      END

      SUBROUTINE ANTB (IOPT, INFO, SIG, DIM, T0, X0, XD0, DP, IP, LP,
     1                 DUSER, IUSER, LUSER, IERR)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER SIG(6), DIM(16), INFO(3), IP(1), IUSER(1)
      DIMENSION X0(3), XD0(3), DP(2), DUSER(1)
      LOGICAL LP(1), LUSER(1)
      COMMON /ANTCOM/ W, DECAY, NCALL, NKICK, TITLE
      CHARACTER*8 TITLE
      CHARACTER*31 NAME
      CHARACTER*6 PART(3)
      SAVE PART
      DATA PART /'POS   ', 'VEL   ', 'LEVEL '/
      GO TO (10, 20, 30), IOPT
   10 INFO(1) = 0
      CALL BLO1DT (TITLE // ' block', '78')
      RETURN
   20 SIG(1) = 3
      SIG(2) = 1
      SIG(3) = 1
      SIG(4) = 1
      SIG(5) = 2
      SIG(6) = 3
      DIM(1) = 3
      DIM(2) = 1
      DIM(3) = 2
      DIM(4) = 1
      DIM(5) = 2
      DIM(6) = 2
      DIM(8) = 1
      RETURN
   30 DO 31 I = 1, 3
      NAME = PART(I)
   31 CALL BLO3SX (NAME, 'state')
      CALL BLO3SU ('FORCE', 'force')
      CALL BLO3TY ('PAIR', 'position and level', 1, 2)
      CALL BLO3SZ ('DOWN', 'passes zero')
      CALL BLO3SW ('KICKS', ' ')
      CALL BLO3SW ('ENERGY', ' ')
      CALL BLO3PD ('OMEGA', ' ')
      CALL BLO3PD ('RATE', ' ')
      CALL BLO3PL ('KICKED', ' ')
      X0(1) = 1.0D0
      X0(3) = 4.0D0
      DP(1) = W
      DP(2) = DECAY
      LP(1) = .TRUE.
      END

      SUBROUTINE ANTS (T0, X0, XD0, U0, DP, IP, LP, TEVENT, HCROSS,
     1                 DIMNEW, DUSER, IUSER, LUSER, IERR)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER HCROSS(1), DIMNEW(2), IP(1), IUSER(1)
      DIMENSION X0(3), XD0(3), U0(1), DP(2), TEVENT(2), DUSER(1)
      LOGICAL LP(1), LUSER(1)
      COMMON /ANTCOM/ W, DECAY, NCALL, NKICK, TITLE
      CHARACTER*8 TITLE
      DIMENSION PAR(2)
      EQUIVALENCE (PAR(1), W), (PAR(2), DECAY)
      DO 10 I = 1, 2
   10 PAR(I) = DP(I)
      NKICK = 0
      NCALL = 0
      HCROSS(1) = -1
      END

C     F, and G and H as further entries of the same subroutine
      SUBROUTINE ANTF (ICALL, T, X, XD, U, DP, IP, LP, F,
     1                 DUSER, IUSER, LUSER, IERR)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER ICALL(15), IP(1), IUSER(1)
      DIMENSION X(3), XD(3), U(1), DP(2), F(3), DUSER(1), Y(2), Z(1)
      LOGICAL LP(1), LUSER(1)
      COMMON /ANTCOM/ W, DECAY, NCALL, NKICK, TITLE
      CHARACTER*8 TITLE
      SPRING(P) = -W**2*P
      FLOW(H) = -DECAY*H
      NCALL = NCALL + 1
      F(1) = X(2)
      F(2) = SPRING(X(1)) + U(1)
      F(3) = FLOW(X(3))
      RETURN
      ENTRY ANTG (ICALL, T, X, XD, U, DP, IP, LP, Y,
     1            DUSER, IUSER, LUSER, IERR)
      Y(1) = X(1)
      Y(2) = X(3)
      RETURN
      ENTRY ANTH (ICALL, T, X, XD, U, DP, IP, LP, Z,
     1            DUSER, IUSER, LUSER, IERR)
      Z(1) = X(1)
      END

      SUBROUTINE ANTK (ICALL, T, X, XD, U, DP, IP, LP, WW,
     1                 DUSER, IUSER, LUSER, IERR)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER ICALL(15), IP(1), IUSER(1)
      DIMENSION X(3), XD(3), U(1), DP(2), WW(2), DUSER(1)
      LOGICAL LP(1), LUSER(1)
      COMMON /ANTCOM/ W, DECAY, NCALL, NKICK, TITLE
      CHARACTER*8 TITLE
      WW(1) = NKICK
      WW(2) = 0.5D0*(X(2)**2 + (W*X(1))**2)
      END

      SUBROUTINE ANTV (ICALL, IOPT, T, X, XD, U, DP, IP, LP, Z, HINFO,
     1                 TEVENT, HCROSS, DIMNEW, IPRIOR,
     2                 DUSER, IUSER, LUSER, INFO)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER IOPT(3), HINFO(1), HCROSS(1), DIMNEW(2), IP(1), IUSER(1)
      DIMENSION X(3), XD(3), U(1), DP(2), Z(1), TEVENT(2), DUSER(1)
      LOGICAL LP(1), LUSER(1)
      COMMON /ANTCOM/ W, DECAY, NCALL, NKICK, TITLE
      CHARACTER*8 TITLE
      IF (HINFO(1)) 30, 30, 10
   10 NKICK = NKICK + 1
      INFO = 0
      IF (.NOT. LP(1)) RETURN
      X(3) = X(3) + 1.0D0
      INFO = 1
   30 CONTINUE
      END

      SUBROUTINE ANTJ (ICALL, T, X, XD, U, DP, IP, LP, CJ, JAC, NJAC,
     1                 DUSER, IUSER, LUSER, IERR)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER ICALL(15), IP(1), IUSER(1)
      DOUBLE PRECISION JAC(NJAC, NJAC)
      END
