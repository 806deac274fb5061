C     An implicit DAE of index 1 with BLOCKP and BLOCKJ:
C        0 = X1D + K*X1 - Y,   0 = Y*(1 + Y**2) - X1,  X1(0) = 2
C     Y is algebraic, its start follows from X1. ODD(1) counts changes.
      SUBROUTINE IMPB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (IOPT .EQ. 1) THEN
         INFO(1) = 1
      ELSE IF (IOPT .EQ. 2) THEN
         INFO(1) = 1
         INFO(3) = 1
         SIG(1) = 2
         SIG(3) = 1
         SIG(6) = 2
         DIM(1) = 2
         DIM(3) = 1
         DIM(6) = 2
      ELSE
         CALL BLO3SX ('X1', 'state')
         CALL BLO3SX ('Y', 'algebraic')
         CALL BLO3SY ('RATE', 'of X1')
         CALL BLO3PD ('K', ' ')
         CALL BLO3PD ('YSTART', 'the start of Y, with it that of X1')
         X0(1) = 2.0D0
         X0(2) = 1.0D0
         XD0(1) = -3.0D0
         DP(1) = 2.0D0
         DP(2) = 1.0D0
      ENDIF
      END

      SUBROUTINE IMPP (DP,IP,LP,ITYP,IPT,IPOS,NDIM,DIM,X0,XD0,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), ITYP, IPT, IPOS, NDIM, DIM(*), IUSER(*), IERR
      DOUBLE PRECISION DP(*), X0(*), XD0(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (ITYP .EQ. 0) THEN
         X0(2) = DP(2)
         X0(1) = DP(2)*(1.0D0 + DP(2)**2)
         XD0(1) = X0(2) - DP(1)*X0(1)
      ENDIF
      END

      SUBROUTINE IMPF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      F(1) = XD(1) + DP(1)*X(1) - X(2)
      F(2) = X(2)*(1.0D0 + X(2)**2) - X(1)
      END

      SUBROUTINE IMPG (ICALL,T,X,XD,U,DP,IP,LP,Y,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Y(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      Y(1) = XD(1)
      END

      SUBROUTINE IMPJ (ICALL,T,X,XD,U,DP,IP,LP,CJ,JAC,NJAC,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, NJAC, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), CJ, DUSER(*)
      DOUBLE PRECISION JAC(NJAC,NJAC)
      LOGICAL LP(*), LUSER(*)
      JAC(1,1) = DP(1) + CJ
      JAC(2,1) = -1.0D0
      JAC(1,2) = -1.0D0
      JAC(2,2) = 1.0D0 + 3.0D0*X(2)**2
      END
