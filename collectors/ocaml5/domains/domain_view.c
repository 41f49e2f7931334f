/* SPDX-License-Identifier: MIT
 *
 * What the OCaml 5 runtime's domains are doing, which is known to its own file alone: this one
 * contains it.
 */
#include "domain.c"

#include "collectors/ocaml5/domains/domains.h"

/* Who is in a blocking section has given its lock away, and its backup thread has it while it
 * answers for it. */
static bool is_answered_for(dom_internal *d) {
    if (!d->backup_thread_running || atomic_load(&d->backup_thread_msg) != BT_IN_BLOCKING_SECTION)
        return false;
    if (pthread_mutex_trylock(&d->domain_lock) != 0)
        return true;
    pthread_mutex_unlock(&d->domain_lock);
    return false;
}

bool domains_stand_still(void) {
    if (atomic_load(&stw_leader))
        return false;
    for (int i = 0; i < stw_domains.participating_domains; i++) {
        dom_internal *d = stw_domains.domains[i];
        if (interruptor_has_pending(&d->interruptor) || is_answered_for(d))
            return false;
    }
    return true;
}
