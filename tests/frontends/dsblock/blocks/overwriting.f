C     X' = -X, Y = X, W = X; the callback whose letter is DEFECT writes one
C     element behind the last of what it computes.
      SUBROUTINE OVERB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      INTEGER I
      IF (IOPT .EQ. 1) THEN
         INFO(1) = 1
      ELSE IF (IOPT .EQ. 2) THEN
         INFO(3) = 1
         DO 10 I = 1, 5
            IF (I .NE. 2) SIG(I) = 1
            IF (I .NE. 2) DIM(I) = 1
   10    CONTINUE
      ELSE
         CALL BLO3SX ('X', ' ')
         CALL BLO3SY ('Y', ' ')
         CALL BLO3SZ ('Z', ' ')
         CALL BLO3SW ('W', ' ')
         X0(1) = 1.0D0
      ENDIF
      END

      SUBROUTINE OVERF (ICALL,T,X,XD,U,DP,IP,LP,V,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), V(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      V(1) = -X(1)
      IF (DEFECT .EQ. 1) V(2) = 1.0D0
      END

      SUBROUTINE OVERG (ICALL,T,X,XD,U,DP,IP,LP,V,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), V(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      V(1) = X(1)
      IF (DEFECT .EQ. 2) V(2) = 1.0D0
      END

      SUBROUTINE OVERH (ICALL,T,X,XD,U,DP,IP,LP,V,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), V(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      V(1) = X(1) - 2.0D0
      IF (DEFECT .EQ. 3) V(2) = 1.0D0
      END

      SUBROUTINE OVERK (ICALL,T,X,XD,U,DP,IP,LP,V,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), V(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      V(1) = X(1)
      IF (DEFECT .EQ. 4) V(2) = 1.0D0
      END

      SUBROUTINE OVERJ (ICALL,T,X,XD,U,DP,IP,LP,CJ,JAC,NJAC,
     +                  DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), NJAC, IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), CJ, JAC(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      JAC(1) = -1.0D0
      IF (DEFECT .EQ. 5) JAC(2) = 1.0D0
      END
