C     Time events every PERIOD, of which every third may be reached late
C     (TEVENT(2)), and a step event once X passes each whole number.
C     X' = 1 + COUNT, so that what is counted shows in X.
      SUBROUTINE CLOCKB (IOPT,INFO,SIG,DIM,T0,X0,XD0,DP,IP,LP,
     +                   DUSER,IUSER,LUSER,IERR)
      INTEGER IOPT, INFO(*), SIG(*), DIM(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), DP(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (IOPT .EQ. 1) THEN
         INFO(1) = 1
      ELSE IF (IOPT .EQ. 2) THEN
         INFO(1) = 0
         INFO(2) = 1
         SIG(1) = 1
         SIG(4) = 1
         SIG(5) = 3
         SIG(6) = 1
         DIM(1) = 1
         DIM(4) = 1
         DIM(5) = 3
         DIM(6) = 1
         DIM(10) = 3
         DIM(11) = 1
      ELSE
         CALL BLO3SX ('X', ' ')
         CALL BLO3SZ ('HALF', 'time passes one half')
         CALL BLO3SW ('TICKS', ' ')
         CALL BLO3SW ('STEPS', ' ')
         CALL BLO3SW ('TOGETHER', 'instants with two kinds of events')
         CALL BLO3PD ('PERIOD', ' ')
         DP(1) = 0.25D0
      ENDIF
      END

      SUBROUTINE CLOCKS (T0,X0,XD0,U0,DP,IP,LP,TEVENT,HCROSS,DIMNEW,
     +                   DUSER,IUSER,LUSER,IERR)
      INTEGER IP(*), HCROSS(*), DIMNEW(*), IUSER(*), IERR
      DOUBLE PRECISION T0, X0(*), XD0(*), U0(*), DP(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*)
      LOGICAL LP(*), LUSER(*)
      TEVENT(1) = T0 + DP(1)
      IUSER(1) = 0
      IUSER(2) = 0
      IUSER(3) = 0
      LUSER(1) = .FALSE.
      END

      SUBROUTINE CLOCKF (ICALL,T,X,XD,U,DP,IP,LP,F,
     +                   DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), F(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      IF (ICALL(3) .EQ. 0) THEN
         F(1) = 1.0D0 + IUSER(1)
      ELSE IF (X(1) .GT. 1.0D0 .AND. .NOT. LUSER(1)) THEN
         ICALL(3) = 1
      ELSE
         ICALL(3) = 0
      ENDIF
      END

      SUBROUTINE CLOCKH (ICALL,T,X,XD,U,DP,IP,LP,Z,
     +                   DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL, IP(*), IUSER(*), IERR
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Z(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      Z(1) = T - 0.5D0
      END

      SUBROUTINE CLOCKK (ICALL,T,X,XD,U,DP,IP,LP,W,
     +                   DUSER,IUSER,LUSER,IERR)
      INTEGER ICALL(*), IP(*), IUSER(*), IERR, I
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), W(*), DUSER(*)
      LOGICAL LP(*), LUSER(*)
      DO 10 I = 1, 3
         W(I) = IUSER(I)
   10 CONTINUE
      END

      SUBROUTINE CLOCKV (ICALL,IOPT,T,X,XD,U,DP,IP,LP,Z,HINFO,TEVENT,
     +                   HCROSS,DIMNEW,IPRIOR,DUSER,IUSER,LUSER,INFO)
      INTEGER ICALL, IOPT(3), IP(*), HINFO(*), HCROSS(*), DIMNEW(*)
      INTEGER IPRIOR, IUSER(*), INFO
      DOUBLE PRECISION T, X(*), XD(*), U(*), DP(*), Z(*), TEVENT(*)
      DOUBLE PRECISION DUSER(*)
      LOGICAL LP(*), LUSER(*)
      INFO = 1
      IPRIOR = 10
      IF (IOPT(1) .EQ. 1) THEN
         IUSER(1) = IUSER(1) + 1
         TEVENT(1) = T + DP(1)
         IF (MOD(IUSER(1), 3) .EQ. 0) TEVENT(2) = TEVENT(1) + 1.0D0
      ENDIF
      IF (IOPT(3) .EQ. 1) THEN
         IUSER(2) = IUSER(2) + 1
         LUSER(1) = .TRUE.
         INFO = MAX(INFO, IOPT(1))
      ENDIF
      IF (IOPT(1) + IOPT(2) + IOPT(3) .GE. 2) IUSER(3) = IUSER(3) + 1
      END
