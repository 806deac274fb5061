C     An implicit DAE of index 1 with BLOCKP and BLOCKJ:
C        0 = X1D + A*X1D**3 + K*X1 - Y,   0 = Y*(1 + Y**2) - X1
C     X1D follows from no formula unless A = 0. Y is algebraic; BLOCKP
C     makes start values that fit YSTART, and refuses A < 0, with which
C     X1D would not be unique. It warns of K < 0.
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
         SIG(6) = 3
         DIM(1) = 2
         DIM(3) = 1
         DIM(6) = 3
      ELSE
         CALL BLO3SX ('X1', 'state')
         CALL BLO3SX ('Y', 'algebraic')
         CALL BLO3SY ('RATE', 'of X1')
         CALL BLO3PD ('K', ' ')
         CALL BLO3PD ('YSTART', 'the start of Y, with it that of X1')
         CALL BLO3PD ('A', 'of the third power')
         X0(1) = 2.0D0
         X0(2) = 1.0D0
         XD0(1) = -3.0D0
         DP(1) = 2.0D0
         DP(2) = 1.0D0
         DP(3) = 0.0D0
      ENDIF
      END

      SUBROUTINE IMPP (DP,IP,LP,ITYP,IPT,IPOS,NDIM,DIM,X0,XD0,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), ITYP, IPT, IPOS, NDIM, DIM(*), IUSER(*), IERR
      DOUBLE PRECISION DP(*), X0(*), XD0(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      INTEGER I
      DOUBLE PRECISION S, R
      IF (ITYP .EQ. 3 .AND. IPOS .EQ. 3 .AND. DP(3) .LT. 0.0D0) THEN
         CALL BLOERL (1, 'with A < 0 there are several X1D', 1, ' ')
         IERR = 2
      ELSE IF (ITYP .EQ. 3 .AND. IPT .EQ. 1 .AND. DP(1) .LT. 0.0D0) THEN
         CALL BLOERL (2, 'with K < 0 X1 grows', 0, ' ')
         IERR = 1
      ELSE IF (ITYP .EQ. 0) THEN
         X0(2) = DP(2)
         X0(1) = DP(2)*(1.0D0 + DP(2)**2)
         R = X0(2) - DP(1)*X0(1)
         S = 0.0D0
         DO 10 I = 1, 100
            S = S - (S + DP(3)*S**3 - R)/(1.0D0 + 3.0D0*DP(3)*S**2)
   10    CONTINUE
         XD0(1) = S
      ENDIF
      END

      SUBROUTINE IMPF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      F(1) = XD(1) + DP(3)*XD(1)**3 + DP(1)*X(1) - X(2)
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
      JAC(1,1) = DP(1) + CJ*(1.0D0 + 3.0D0*DP(3)*XD(1)**2)
      JAC(2,1) = -1.0D0
      JAC(1,2) = -1.0D0
      JAC(2,2) = 1.0D0 + 3.0D0*X(2)**2
      END
