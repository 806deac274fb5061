C     Van der Pol's equation X1' = X2, X2' = MU*(1 - X1**2)*X2 - X1 + U
C     with its Jacobian, parameters of every type, scalars and arrays,
C     and values that BLOCKS keeps in COMMON.
      SUBROUTINE VDPB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      INTEGER SHAPE(2), LU(2), NONE(1), PREC, I
      CHARACTER*80 FILE
      COMMON /VDPFIL/ FILE
      IF (IOPT .EQ. 1) THEN
         INFO(1) = 0
         CALL BLO1DT ('van der Pol''s equation', '3.3')
      ELSE IF (IOPT .EQ. 2) THEN
         INFO(1) = 0
         INFO(3) = 1
         SIG(1) = 2
         SIG(2) = 1
         SIG(3) = 1
         SIG(5) = 2
         SIG(6) = 7
         DIM(1) = 2
         DIM(2) = 1
         DIM(3) = 2
         DIM(5) = 2
         DIM(6) = 8
         DIM(7) = 3
         DIM(8) = 2
         DIM(9) = 1
         CALL BLO2MF ('File of the data', FILE)
      ELSE
         CALL BLOSII (1, PREC, IERR)
         IF (IERR .NE. 0 .OR. PREC .NE. 3) RETURN
         CALL BLOLUB (2, LU, IERR)
         IF (IERR .NE. 0) RETURN
         IF (LU(1) .EQ. LU(2)) IERR = 1
         CALL BLOLUC (2, LU)
         CALL BLO3SX ('X1', 'position')
         CALL BLO3SX ('X2', 'speed')
         CALL BLO3SU ('FORCE', 'from outside')
         SHAPE(1) = 2
         CALL BLO3TY ('YARR', 'position and speed', 1, SHAPE)
         CALL BLO3SW ('ENERGY', ' ')
         CALL BLO3SW ('RATE', 'of the speed')
         CALL BLO3PD ('MU', 'damping')
         CALL BLO3MD (0.0D0, 1.0D3, 1, 2)
         CALL BLO3PI ('POWER', 'of the position in the damping')
         CALL BLO3MI (2, 4, 2, 2)
         SHAPE(1) = 2
         SHAPE(2) = 3
         CALL BLO3RD ('DARRAY', 'not used', 2, SHAPE)
         CALL BLO3RI ('IARRAY', 'not used', 1, 2)
         CALL BLO3PD ('DNUM2', 'not used')
         CALL BLO3PL ('LINEAR', 'if true there is no damping')
         CALL BLO3PL ('QUIET', 'if false the start is told')
         CALL BLO3UX (0, NONE, 0, 1)
         CALL BLO3DD (1, 20.0D0)
         CALL BLO3DD (6, 1.0D-7)
         CALL BLO3DI (6, 40)
         X0(1) = 2.0D0
         DP(1) = 1.5D0
         DO 10 I = 1, 6
            DP(1+I) = I
   10    CONTINUE
         DP(8) = -1.0D0
         IP(1) = 2
         IP(2) = 11
         IP(3) = 12
         LP(2) = .TRUE.
      ENDIF
      END

      SUBROUTINE VDPP (DP,IP,LP,ITYP,IPT,IPOS,NDIM,DIM,X0,XD0,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), ITYP, IPT, IPOS, NDIM, DIM(*), IUSER(*), IERR
      DOUBLE PRECISION DP(*), X0(*), XD0(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      REAL NOTHNG
      DOUBLE PRECISION DVALUE(1)
      IF (ITYP .EQ. 1 .AND. IP(1) .EQ. 3) THEN
         CALL BLOERS (4, 'POWER cannot be 3', 1, IP, NOTHNG, DVALUE,
     +                'even', 1, 0, 0, 1, 'vdp.msg')
         IERR = 2
      ELSE IF (ITYP .EQ. 3 .AND. IPT .EQ. 1 .AND. IPOS .EQ. 1) THEN
         IF (DP(1) .GT. 1.0D2) THEN
            DVALUE(1) = DP(1)
            CALL BLOERS (7, 'stiff', 0, IP, NOTHNG, DVALUE, ' ',
     +                   0, 0, 1, 0, 'vdp.msg')
            IERR = 1
         ENDIF
      ELSE IF (ITYP .EQ. 3 .AND. IPOS .EQ. 3) THEN
C        an array: with it the start
         IF (NDIM .NE. 2 .OR. DIM(1) .NE. 2 .OR. DIM(2) .NE. 3) IERR = 2
         X0(1) = DP(IPT+3)
      ELSE IF (IPOS .EQ. 5) THEN
         IERR = 3
      ENDIF
      END

      SUBROUTINE VDPS (T0,X0,XD0,U0,DP,IP,LP,TEVENT,HCROSS,DIMNEW,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), HCROSS(*), DIMNEW(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), U0(*), DP(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*), MUKEPT
      LOGICAL LP(*), LUSER(*)
      CHARACTER*80 FILE
      COMMON /VDPKPT/ MUKEPT
      COMMON /VDPFIL/ FILE
      MUKEPT = DP(1)
      IF (LP(1)) MUKEPT = 0.0D0
      DUSER(1) = U0(1)
      IF (.NOT. LP(2)) CALL BLOPRI ('begins with ' // FILE)
      END

      SUBROUTINE VDPF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      DOUBLE PRECISION MUKEPT
      LOGICAL LP(*), LUSER(*)
      COMMON /VDPKPT/ MUKEPT
      F(1) = X(2)
      F(2) = MUKEPT*(1.0D0 - X(1)**IP(1))*X(2) - X(1) + U(1)
      END

      SUBROUTINE VDPG (ICALL,T,X,XD,U,DP,IP,LP,Y,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Y(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      Y(1) = X(1)
      Y(2) = X(2)
      END

      SUBROUTINE VDPJ (ICALL,T,X,XD,U,DP,IP,LP,CJ,JAC,NJAC,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, NJAC, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), CJ, DUSER(*)
      DOUBLE PRECISION JAC(NJAC,NJAC), MUKEPT
      LOGICAL LP(*), LUSER(*)
      COMMON /VDPKPT/ MUKEPT
      JAC(1,1) = 0.0D0
      JAC(1,2) = 1.0D0
      JAC(2,1) = -MUKEPT*IP(1)*X(1)**(IP(1)-1)*X(2) - 1.0D0
      JAC(2,2) = MUKEPT*(1.0D0 - X(1)**IP(1))
      END

      SUBROUTINE VDPK (ICALL,T,X,XD,U,DP,IP,LP,W,
     +                 DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), W(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (ICALL(2) .EQ. 1) THEN
         W(1) = 0.5D0*(X(1)**2 + X(2)**2)
         W(2) = XD(2)
      ENDIF
      END
