C     A structure that varies: NX is 1, 2, 0 and 1, NZ is 1, 2, 0 and 0,
C     from time 0, 1, 2 and 3 on. A' = 1; B' = -B from 5.
      SUBROUTINE VARYB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (IOPT .EQ. 1) THEN
         INFO(1) = 1
      ELSE IF (IOPT .EQ. 2) THEN
         SIG(1) = 2
         SIG(4) = 2
         DIM(1) = 2
         DIM(4) = 2
         DIM(10) = 1
      ELSE
         CALL BLO3SX ('A', ' ')
         CALL BLO3SX ('B', ' ')
         CALL BLO3SZ ('ZA', 'A passes one half')
         CALL BLO3SZ ('ZB', 'B passes four')
      ENDIF
      END

      SUBROUTINE VARYS (T0,X0,XD0,U0,DP,IP,LP,TEVENT,HCROSS,DIMNEW,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), HCROSS(*), DIMNEW(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), U0(*), DP(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DIMNEW(1) = 1
      DIMNEW(2) = 1
      TEVENT(1) = 1.0D0
      IUSER(1) = 1
      END

      SUBROUTINE VARYF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      F(1) = 1.0D0
      IF (IUSER(1) .EQ. 2) F(2) = -X(2)
      END

      SUBROUTINE VARYH (ICALL,T,X,XD,U,DP,IP,LP,Z,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Z(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      Z(1) = X(1) - 0.5D0
      IF (IUSER(1) .EQ. 2) Z(2) = X(2) - 4.0D0
      END

      SUBROUTINE VARYV (ICALL,IOPT,T,X,XD,U,DP,IP,LP,Z,HINFO,TEVENT,
     +                  HCROSS,DIMNEW,IPRIOR,DUSER,IUSER,LUSER,INFO)
      INTEGER ICALL, IOPT(3), IP(*), HINFO(*), HCROSS(*), DIMNEW(*)
      INTEGER IPRIOR, IUSER(*), INFO
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Z(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*)
      LOGICAL LP(*), LUSER(*)
      INFO = 0
      IF (IOPT(1) .NE. 1) RETURN
      INFO = 1
      IUSER(1) = IUSER(1) + 1
      IF (IUSER(1) .LT. 4) TEVENT(1) = T + 1.0D0
      IF (IUSER(1) .EQ. 2) THEN
         DIMNEW(1) = 2
         DIMNEW(2) = 2
         X(2) = 5.0D0
      ELSE IF (IUSER(1) .EQ. 3) THEN
         DIMNEW(1) = 0
         DIMNEW(2) = 0
      ELSE
         DIMNEW(1) = 1
         X(1) = 10.0D0
      ENDIF
      END
