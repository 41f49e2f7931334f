/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly collector on x86-TSO once more, in Promela, with one field an object: for the
 * comparison of `isoheap explore` with SPIN (bench/spin.sh).  Written from the paper's figures 2, 5,
 * 6 and 9 with the same atomic steps as models/onthefly/, one d_step each, so that both must
 * reach the same number of states.  NM, NR, MB and GB come from the command line; VARIANT 1 has no
 * deletion barrier, 2 no insertion barrier.
 */
#ifndef NM
#define NM 1 /* mutators */
#endif
#ifndef NR
#define NR 1 /* references */
#endif
#ifndef MB
#define MB 1 /* pending stores of a mutator */
#endif
#ifndef GB
#define GB 2 /* and of the collector */
#endif
#ifndef VARIANT
#define VARIANT 0
#endif

#define NP     (NM + 1)
#define COL    NM /* the collector's number */
#define NOBODY 9
#define DEPTH  GB
#define ALLM   ((1 << NM) - 1)
#define ALLR   ((1 << NR) - 1)
#define NONE   2 /* flag of what is not there */

/* cells */
#define FA       0
#define FM       1
#define PHASE    2
#define FLAG(r)  (3 + (r))
#define FIELD(r) (3 + NR + (r))

/* values */
#define IDLE  0
#define INIT  1
#define MARK  2
#define SWEEP 3
#define NOOP  0
#define ROOTS 1
#define WORK  2

/* mark */
#define OUT    0
#define NULLT  1
#define LFLAG  2
#define LFM    3
#define MTEST  4
#define LPHASE 5
#define PTEST  6
#define LOCK   7
#define CFLAG  8
#define CTEST  9
#define CSTORE 10
#define UNLOCK 11
#define WON    12
#define ADDW   13

/* mutators */
#define TOP       0
#define LOADF     1
#define DEREF     2
#define STOREDEL  3
#define LOP       4
#define STOREINS  5
#define STORE     6
#define HSFENCE   7
#define HSTYPE    8
#define HSDONE    9
#define HSROOTS   10
#define HSROOTSM  11

/* the collector: handshakes are 0..29, five labels each */
#define H(pc)    ((pc) / 5)
#define PART(pc) ((pc) % 5)
#define INHS(pc) ((pc) < 30)
#define LOADFM   30
#define INVERT   31
#define STOREFM  32
#define PINIT    33
#define PMARK    34
#define MLOADFM  35
#define STOREFA  36
#define MLOOP    37
#define PICK     38
#define GFIELD   39
#define GDEREF   40
#define GMARKF   41
#define INNER    42
#define PSWEEP   43
#define SLOADFM  44
#define GSWEEP   45
#define GFREE    46
#define PIDLE    47

byte mem[3 + 2 * NR];
byte lock = NOBODY;
byte cnt[NP];
byte bcell[NP * DEPTH];
byte bval[NP * DEPTH];
byte pc[NP];
byte mpc[NP];
byte roots[NM];
byte W[NP];
byte refs[NP];
byte src[NP];
byte dst[NM];
byte ref[NP];
byte flag[NP];
byte cas[NP];
byte fM[NP];
byte ph[NP];
byte grey[NP];
byte root[NM];
byte hp[NM];
byte alloc, type, pending, SW, sync, SH;
byte k; /* of the choice of an initial state */
bool started;

hidden byte x, i, j, reach, greys, old;

#define FREE(p)  (lock == NOBODY || lock == p)
#define BIT(r)   ((1 << (r)) >> 1) /* of a reference + 1; 0 for NULL */
#define HAS(s,r) (((s) >> (r)) & 1)

/* ---- memory ---- */

inline load(p, cell) {
    x = mem[cell];
    i = cnt[p];
    do
    :: i > 0 && bcell[p * DEPTH + i - 1] == cell -> x = bval[p * DEPTH + i - 1]; break
    :: i > 0 && bcell[p * DEPTH + i - 1] != cell -> i--
    :: i == 0 -> break
    od;
    i = 0
}

inline load_flag(p) {
    load(p, FLAG(ref[p] - 1));
    if
    :: HAS(alloc, ref[p] - 1) -> skip
    :: else -> x = NONE
    fi
}

inline push(p, cell, value) {
    bcell[p * DEPTH + cnt[p]] = cell;
    bval[p * DEPTH + cnt[p]] = value;
    cnt[p]++
}

inline commit(p) {
    /* stores to what is not there would be use after free */
    assert(bcell[p * DEPTH] < 3 || HAS(alloc, (bcell[p * DEPTH] - 3) % NR));
    mem[bcell[p * DEPTH]] = bval[p * DEPTH];
    cnt[p]--;
    i = 0;
    do
    :: i < cnt[p] ->
        bcell[p * DEPTH + i] = bcell[p * DEPTH + i + 1];
        bval[p * DEPTH + i] = bval[p * DEPTH + i + 1];
        i++
    :: else -> break
    od;
    bcell[p * DEPTH + cnt[p]] = 0;
    bval[p * DEPTH + cnt[p]] = 0;
    i = 0
}

/* ---- valid_refs and strong_tricolour, after every step ---- */

inline check() {
    reach = 0;
    greys = SW;
    i = 0;
    do
    :: i < NP -> greys = greys | W[i] | grey[i]; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < NM ->
        reach = reach | roots[i] | root[i];
        j = 0;
        do
        :: j < cnt[i] ->
            if
            :: bcell[i * DEPTH + j] >= 3 + NR ->
                reach = reach | (1 << (bcell[i * DEPTH + j] - 3 - NR)) | BIT(bval[i * DEPTH + j])
            :: else -> skip
            fi;
            j++
        :: else -> break
        od;
        i++
    :: else -> break
    od;
    reach = reach | greys;
    j = 0;
    do
    :: j < NR ->
        i = 0;
        do
        :: i < NR ->
            if
            :: HAS(reach, i) -> reach = reach | BIT(mem[FIELD(i)])
            :: else -> skip
            fi;
            i++
        :: else -> break
        od;
        j++
    :: else -> break
    od;
    assert((reach & ~alloc) == 0);
    i = 0;
    do
    :: i < NR ->
        if
        :: HAS(alloc, i) && mem[FLAG(i)] == mem[FM] && !HAS(greys, i) && mem[FIELD(i)] ->
            assert(!(HAS(alloc, mem[FIELD(i)] - 1) && mem[FLAG(mem[FIELD(i)] - 1)] != mem[FM]))
        :: else -> skip
        fi;
        i++
    :: else -> break
    od;
    i = 0; j = 0; x = 0; reach = 0; greys = 0; old = 0
}

/* ---- mark, figure 5 ---- */

#if VARIANT == 2
#define after_deletion(p) pc[p] = STORE
#else
#define after_deletion(p) pc[p] = LOP
#endif

inline end_mark(p) {
    old = ref[p];
    mpc[p] = OUT; ref[p] = 0; flag[p] = 0; cas[p] = 0;
    if
    :: p == COL -> refs[p] = 0; pc[p] = GFIELD
    :: else ->
        fM[p] = 0; ph[p] = 0;
        if
        :: pc[p] == STOREDEL -> after_deletion(p)
        :: pc[p] == STOREINS -> pc[p] = STORE
        :: else -> refs[p] = refs[p] & ~BIT(old); pc[p] = HSROOTS
        fi
    fi
}

#define MARK_STEPS(p, bound) \
    :: d_step { started && mpc[p] == NULLT -> \
        if :: ref[p] -> mpc[p] = LFLAG :: else -> end_mark(p) fi; check() } \
    :: d_step { mpc[p] == LFLAG && FREE(p) -> load_flag(p); flag[p] = x; mpc[p] = LFM; check() } \
    :: d_step { mpc[p] == LFM && FREE(p) -> load(p, FM); fM[p] = x; mpc[p] = MTEST; check() } \
    :: d_step { mpc[p] == MTEST -> \
        if :: flag[p] == fM[p] -> end_mark(p) :: else -> mpc[p] = LPHASE fi; check() } \
    :: d_step { mpc[p] == LPHASE && FREE(p) -> load(p, PHASE); ph[p] = x; mpc[p] = PTEST; check() } \
    :: d_step { mpc[p] == PTEST -> \
        if :: ph[p] == IDLE -> end_mark(p) :: else -> mpc[p] = LOCK fi; check() } \
    :: d_step { mpc[p] == LOCK && lock == NOBODY -> lock = p; mpc[p] = CFLAG; check() } \
    :: d_step { mpc[p] == CFLAG -> load_flag(p); cas[p] = x; mpc[p] = CTEST; check() } \
    :: d_step { mpc[p] == CTEST -> \
        if :: cas[p] == flag[p] -> mpc[p] = CSTORE :: else -> mpc[p] = UNLOCK fi; check() } \
    :: d_step { mpc[p] == CSTORE && cnt[p] < bound -> \
        push(p, FLAG(ref[p] - 1), fM[p]); grey[p] = BIT(ref[p]); mpc[p] = UNLOCK; check() } \
    :: d_step { mpc[p] == UNLOCK && cnt[p] == 0 -> lock = NOBODY; mpc[p] = WON; check() } \
    :: d_step { mpc[p] == WON -> \
        if :: cas[p] == flag[p] -> mpc[p] = ADDW :: else -> end_mark(p) fi; check() } \
    :: d_step { mpc[p] == ADDW -> W[p] = W[p] | BIT(ref[p]); grey[p] = 0; end_mark(p); check() } \
    :: d_step { cnt[p] > 0 && FREE(p) -> commit(p); check() }

inline begin_mark(p, label, r) {
    pc[p] = label;
    mpc[p] = NULLT;
    ref[p] = r
}

/* ---- mutators, figure 6 ---- */

inline answer(m, work) {
    if
    :: work -> SW = SW | W[m]; W[m] = 0
    :: else -> skip
    fi;
    pending = pending & ~(1 << m);
    sync = sync | (1 << m);
    if
    :: type != WORK -> hp[m] = SH
    :: else -> skip
    fi;
    pc[m] = TOP
}

inline begin_store(m, r, v) {
    src[m] = r + 1;
    dst[m] = v;
#if VARIANT == 1
    after_deletion(m)
#else
    pc[m] = DEREF
#endif
}

#define ATTOP(m) (started && pc[m] == TOP)
#define STORE_OF(m, r, v) \
    :: d_step { ATTOP(m) && HAS(roots[m], r) && (v == 0 || (roots[m] & BIT(v))) -> begin_store(m, r, v); check() }
#define OPERATIONS(m, r) \
    :: d_step { ATTOP(m) && !HAS(alloc, r) -> \
        alloc = alloc | (1 << r); mem[FLAG(r)] = mem[FA]; roots[m] = roots[m] | (1 << r); check() } \
    :: d_step { ATTOP(m) && HAS(roots[m], r) -> roots[m] = roots[m] & ~(1 << r); check() } \
    :: d_step { ATTOP(m) && HAS(roots[m], r) -> src[m] = r + 1; pc[m] = LOADF; check() } \
    :: d_step { pc[m] == HSROOTS && HAS(refs[m], r) -> begin_mark(m, HSROOTSM, r + 1); check() } \
    STORE_OF(m, r, 0) STORE_OF(m, r, 1)

active [NM] proctype Mutator() {
    do
    MARK_STEPS(_pid, MB)
    OPERATIONS(_pid, 0)
#if NR > 1
    OPERATIONS(_pid, 1)
    STORE_OF(_pid, 0, 2)
    STORE_OF(_pid, 1, 2)
#endif
    :: d_step { ATTOP(_pid) && cnt[_pid] == 0 -> skip } /* mfence */
    :: d_step { ATTOP(_pid) && HAS(pending, _pid) -> pc[_pid] = HSFENCE; check() }
    :: d_step { pc[_pid] == LOADF && FREE(_pid) ->
        load(_pid, FIELD(src[_pid] - 1)); roots[_pid] = roots[_pid] | BIT(x);
        src[_pid] = 0; pc[_pid] = TOP; check() }
    :: d_step { pc[_pid] == DEREF && FREE(_pid) ->
        load(_pid, FIELD(src[_pid] - 1)); root[_pid] = BIT(x); begin_mark(_pid, STOREDEL, x); check() }
    :: d_step { pc[_pid] == LOP -> begin_mark(_pid, STOREINS, dst[_pid]); check() }
    :: d_step { pc[_pid] == STORE && mpc[_pid] == OUT && cnt[_pid] < MB ->
        push(_pid, FIELD(src[_pid] - 1), dst[_pid]);
        src[_pid] = 0; dst[_pid] = 0; root[_pid] = 0; pc[_pid] = TOP; check() }
    :: d_step { pc[_pid] == HSFENCE && cnt[_pid] == 0 -> pc[_pid] = HSTYPE; check() }
    :: d_step { pc[_pid] == HSTYPE ->
        if
        :: type == ROOTS -> refs[_pid] = roots[_pid]; pc[_pid] = HSROOTS
        :: else -> pc[_pid] = HSDONE
        fi; check() }
    :: d_step { pc[_pid] == HSDONE -> answer(_pid, type == WORK); check() }
    :: d_step { pc[_pid] == HSROOTS && refs[_pid] == 0 -> answer(_pid, 1); check() }
    od
}

/* ---- the collector, figure 2 ---- */

inline next_label() {
    if
    :: H(pc[COL]) == 0 -> pc[COL] = LOADFM
    :: H(pc[COL]) == 1 -> pc[COL] = PINIT
    :: H(pc[COL]) == 2 -> pc[COL] = PMARK
    :: H(pc[COL]) == 3 -> pc[COL] = 21
    :: else -> pc[COL] = MLOOP
    fi
}

inline set_type() {
    type = (H(pc[COL]) < 4 -> NOOP : (H(pc[COL]) == 4 -> ROOTS : WORK));
    SH = (H(pc[COL]) < 4 -> H(pc[COL]) : 4);
    sync = 0;
    refs[COL] = ALLM;
    pc[COL] = pc[COL] + 1
}

inline ask(m) {
    pending = pending | (1 << m);
    refs[COL] = refs[COL] & ~(1 << m);
    if
    :: refs[COL] == 0 -> refs[COL] = ALLM; pc[COL] = pc[COL] + 1
    :: else -> skip
    fi
}

inline await(m) {
    refs[COL] = refs[COL] & ~(1 << m);
    if
    :: refs[COL] == 0 && H(pc[COL]) < 4 -> next_label()
    :: refs[COL] == 0 && H(pc[COL]) >= 4 -> pc[COL] = pc[COL] + 1
    :: else -> skip
    fi
}

inline free_it() {
    if
    :: flag[COL] != NONE && flag[COL] != fM[COL] ->
        alloc = alloc & ~BIT(src[COL]);
        mem[FLAG(src[COL] - 1)] = 0;
        mem[FIELD(src[COL] - 1)] = 0
    :: else -> skip
    fi;
    refs[COL] = refs[COL] & ~BIT(src[COL]);
    src[COL] = 0;
    flag[COL] = 0;
    pc[COL] = GSWEEP
}

#define INPART(n) (started && INHS(pc[COL]) && PART(pc[COL]) == n)
#define WITH_MUTATOR(m) \
    :: d_step { INPART(2) && HAS(refs[COL], m) -> ask(m); check() } \
    :: d_step { INPART(3) && HAS(refs[COL], m) && !HAS(pending, m) -> await(m); check() }
#define WITH_REF(r) \
    :: d_step { pc[COL] == PICK && HAS(W[COL], r) -> \
        src[COL] = r + 1; refs[COL] = 1; pc[COL] = GFIELD; check() } \
    :: d_step { pc[COL] == GSWEEP && HAS(refs[COL], r) && FREE(COL) -> \
        src[COL] = r + 1; load(COL, FLAG(r)); \
        flag[COL] = (HAS(alloc, r) -> x : NONE); pc[COL] = GFREE; check() }
#define STORES(label, cell, value, next) \
    :: d_step { pc[COL] == label && cnt[COL] < GB -> push(COL, cell, value); pc[COL] = next; check() }
#define PHASES(label, value, next) \
    :: d_step { pc[COL] == label && cnt[COL] < GB -> push(COL, PHASE, value); ph[COL] = value; pc[COL] = next; check() }

active proctype Collector() {
    /* any heap, any roots */
    atomic {
        do
        :: alloc < ALLR -> alloc++
        :: break
        od;
        k = 0;
        do
        :: k < NR && HAS(alloc, k) && mem[FIELD(k)] < NR -> mem[FIELD(k)] = mem[FIELD(k)] + 1
        :: k < NR && (BIT(mem[FIELD(k)]) & ~alloc) == 0 -> k++
        :: k < NR && mem[FIELD(k)] == NR && (BIT(NR) & ~alloc) -> mem[FIELD(k)] = 0; k++
        :: k == NR -> break
        od;
        k = 0;
        do
        :: k < NM && roots[k] < ALLR -> roots[k] = roots[k] + 1
        :: k < NM && (roots[k] & ~alloc) == 0 -> hp[k] = 4; k++
        :: k < NM && roots[k] == ALLR && (ALLR & ~alloc) -> roots[k] = 0; hp[k] = 4; k++
        :: k == NM -> break
        od;
        k = 0; type = ROOTS; sync = ALLM; SH = 4; started = 1
    }
    do
    MARK_STEPS(COL, GB)
    :: d_step { INPART(0) && cnt[COL] == 0 -> pc[COL] = pc[COL] + 1; check() }
    :: d_step { INPART(1) -> set_type(); check() }
    WITH_MUTATOR(0)
#if NM > 1
    WITH_MUTATOR(1)
#endif
    :: d_step { INPART(4) -> W[COL] = SW; SW = 0; next_label(); check() }
    :: d_step { pc[COL] == LOADFM && FREE(COL) -> load(COL, FM); fM[COL] = x; pc[COL] = INVERT; check() }
    :: d_step { pc[COL] == INVERT -> fM[COL] = 1 - fM[COL]; pc[COL] = STOREFM; check() }
    STORES(STOREFM, FM, fM[COL], 5)
    PHASES(PINIT, INIT, 10)
    PHASES(PMARK, MARK, MLOADFM)
    :: d_step { pc[COL] == MLOADFM && FREE(COL) -> load(COL, FM); fM[COL] = x; pc[COL] = STOREFA; check() }
    STORES(STOREFA, FA, fM[COL], 15)
    :: d_step { pc[COL] == MLOOP -> pc[COL] = (W[COL] -> PICK : PSWEEP); check() }
    WITH_REF(0)
#if NR > 1
    WITH_REF(1)
#endif
    :: d_step { pc[COL] == GFIELD && refs[COL] -> pc[COL] = GDEREF; check() }
    :: d_step { pc[COL] == GFIELD && !refs[COL] ->
        W[COL] = W[COL] & ~BIT(src[COL]); src[COL] = 0; pc[COL] = INNER; check() }
    :: d_step { pc[COL] == GDEREF && FREE(COL) ->
        load(COL, FIELD(src[COL] - 1)); begin_mark(COL, GMARKF, x); check() }
    :: d_step { pc[COL] == INNER -> pc[COL] = (W[COL] -> PICK : 26); check() }
    PHASES(PSWEEP, SWEEP, SLOADFM)
    :: d_step { pc[COL] == SLOADFM && FREE(COL) ->
        load(COL, FM); fM[COL] = x; refs[COL] = ALLR; pc[COL] = GSWEEP; check() }
    :: d_step { pc[COL] == GSWEEP && !refs[COL] -> pc[COL] = PIDLE; check() }
    :: d_step { pc[COL] == GFREE -> free_it(); check() }
    PHASES(PIDLE, IDLE, 0)
    od
}
