/* SPDX-License-Identifier: MIT
 *
 * A fair schedule from any state of the on-the-fly model (explore.h).
 */
#include "models/onthefly/exploration/explore.h"

/* What a mutator does at its leisure: it answers; otherwise nothing.  If it is blocked it stays so.
 */
static bool fair_step(const struct model *m, struct state *s, unsigned p) {
    struct action actions[ACTIONS_MAX];
    unsigned n = model_actions(m, s, p, actions);
    for (unsigned i = 0; i < n; i++)
        if (p == GC || s->agent[p].mark_pc != mo_out || actions[i].op == DO_HANDSHAKE ||
            actions[i].op == DO_STEP || (s->agent[p].pc != mut_top && actions[i].op != DO_WAKE)) {
            model_apply(m, s, &actions[i]);
            return true;
        }
    return false;
}

bool fair_run_completes(const struct model *m, const struct state *from) {
    struct state s = *from;
    enum { ROUNDS = 4000 }; /* far more than a cycle takes with 8 references and 4 fields */
    bool waited = false;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned p = 0; p < TSO_PROCESSES; p++) {
            if (p >= m->mutators && p != GC)
                continue;
            if (model_can_commit(&s, p))
                model_apply(m, &s, &(struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0});
            fair_step(m, &s, p);
        }
        unsigned pc = s.agent[GC].pc;
        bool waits = (gc_handshake(pc) < HANDSHAKES && gc_part(pc) == PART_WAIT) ||
                     pc == gc_answer || pc == gc_answer_mark;
        if (waited && !waits)
            return true;
        waited |= waits;
    }
    return false;
}
