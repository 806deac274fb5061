C     X' = -A X + B, computed in single precision, as if in a table of
C     six digits; what BLOCKS makes of A is kept in the memory, and what
C     it was before the event at T = 0.5 stays there.
      SUBROUTINE SINB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (IOPT .EQ. 1) INFO(1) = 1
      IF (IOPT .EQ. 2) THEN
         SIG(1) = 1
         SIG(6) = 2
         DIM(1) = 1
         DIM(6) = 2
         DIM(9) = 1
      ELSE IF (IOPT .EQ. 3) THEN
         CALL BLO3SX ('X', ' ')
         CALL BLO3PD ('A', ' ')
         CALL BLO3PD ('B', ' ')
         X0(1) = 1.0D0
         DP(1) = 1.3D0
         DP(2) = 0.7D0
      ENDIF
      END

      SUBROUTINE SINS (T0,X0,XD0,U0,DP,IP,LP,TEVENT,HCROSS,DIMNEW,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), HCROSS(*), DIMNEW(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), U0(*), DP(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DUSER(1) = SNGL(DP(1)**2)
      END

      SUBROUTINE SINF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      F(1) = -DUSER(1)*X(1) + DP(2)
      END
