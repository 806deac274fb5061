C     The block of told.c in Fortran.
      SUBROUTINE TOLDB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR, I
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (IOPT .EQ. 1) THEN
         INFO(1) = 1
      ELSE IF (IOPT .EQ. 2) THEN
         DO 10 I = 1, 6
            SIG(I) = 1
            DIM(I) = 1
   10    CONTINUE
         SIG(1) = 2
         DIM(1) = 2
         SIG(5) = 3
         DIM(5) = 3
         DIM(9) = 5
      ELSE
         CALL BLO3SX ('X1', ' ')
         CALL BLO3SX ('X2', ' ')
         CALL BLO3SU ('U', ' ')
         CALL BLO3SY ('Y', ' ')
         CALL BLO3SZ ('Z', ' ')
         CALL BLO3SW ('CALLS', ' ')
         CALL BLO3SW ('COMPUTED', ' ')
         CALL BLO3SW ('WRONG', ' ')
         CALL BLO3PD ('P', ' ')
         X0(1) = 1.0D0
         DP(1) = 1.0D0
      ENDIF
      END

      SUBROUTINE TOLDS (T0,X0,XD0,U0,DP,IP,LP,TEVENT,HCROSS,DIMNEW,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), HCROSS(*), DIMNEW(*), IUSER(*), IERR, I
      DOUBLE PRECISION T0, X0(*), XD0(*), U0(*), DP(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DO 10 I = 1, 5
         DUSER(I) = 0.0D0
   10 CONTINUE
      DUSER(2) = DP(1)
      TEVENT(1) = 0.5D0
      END

      DOUBLE PRECISION FUNCTION COMM (ICALL,X,U,DUSER)
      INTEGER ICALL
      DOUBLE PRECISION X(*), U(*), DUSER(*), RIGHT
      RIGHT = DUSER(2)*X(1) + U(1)
      DUSER(3) = DUSER(3) + 1.0D0
      IF (ICALL .EQ. 0) THEN
         DUSER(1) = RIGHT
         DUSER(4) = DUSER(4) + 1.0D0
         ICALL = 1
      ELSE IF (DUSER(1) .NE. RIGHT) THEN
         DUSER(5) = DUSER(5) + 1.0D0
      ENDIF
      COMM = DUSER(1)
      END

      SUBROUTINE TOLDF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DOUBLE PRECISION COMM
      F(1) = X(2)
      F(2) = -COMM(ICALL,X,U,DUSER)
      END

      SUBROUTINE TOLDG (ICALL,T,X,XD,U,DP,IP,LP,Y,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Y(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DOUBLE PRECISION COMM
      Y(1) = COMM(ICALL,X,U,DUSER)
      END

      SUBROUTINE TOLDH (ICALL,T,X,XD,U,DP,IP,LP,Z,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Z(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DOUBLE PRECISION COMM
      Z(1) = COMM(ICALL,X,U,DUSER) - 100.0D0
      END

      SUBROUTINE TOLDK (ICALL,T,X,XD,U,DP,IP,LP,W,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), W(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DOUBLE PRECISION COMM
      W(1) = COMM(ICALL,X,U,DUSER)
      W(1) = DUSER(3)
      W(2) = DUSER(4)
      W(3) = DUSER(5)
      END

      SUBROUTINE TOLDV (ICALL,IOPT,T,X,XD,U,DP,IP,LP,Z,HINFO,TEVENT,
     +                  HCROSS,DIMNEW,IPRIOR,DUSER,IUSER,LUSER,INFO)
      INTEGER ICALL, IOPT(3), IP(*), HINFO(*), HCROSS(*), DIMNEW(*)
      INTEGER IPRIOR, IUSER(*), INFO
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Z(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*), COMM
      LOGICAL LP(*), LUSER(*)
      Z(1) = COMM(ICALL,X,U,DUSER) - 100.0D0
      DUSER(2) = 4.0D0*DP(1)
      INFO = 1
      END
