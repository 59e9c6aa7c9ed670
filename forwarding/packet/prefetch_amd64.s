#include "textflag.h"

// func prefetchSlots(base unsafe.Pointer, column *uint32, slot *uint8, n int, shift, scale uintptr)
TEXT ·prefetchSlots(SB), NOSPLIT, $0-48
	MOVQ base+0(FP), AX
	MOVQ column+8(FP), BX
	MOVQ slot+16(FP), DX
	MOVQ n+24(FP), DI
	MOVQ shift+32(FP), CX
	MOVQ scale+40(FP), R8
	TESTQ DI, DI
	JZ   done

loop:
	MOVBLZX (DX), SI
	MOVL    (BX)(SI*4), SI
	SHRL    CX, SI
	IMULQ   R8, SI
	PREFETCHT0 (AX)(SI*1)
	INCQ DX
	DECQ DI
	JNZ  loop

done:
	RET
