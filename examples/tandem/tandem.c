/* SPDX-License-Identifier: MIT
 *
 * Tandem (tandem.h).  TANDEM_DEFECT builds it wrong, for those who want to see what is found then:
 * 1, no barrier; 2, new blocks are white; 3, whoever waits for a cycle does not count as stopped;
 * 4, the barrier does not look again under the mutex; 5, one is woken where all wait; 6, a mutator
 * that goes tells nobody.
 */
#include "tandem.h"

#ifndef TANDEM_DEFECT
#define TANDEM_DEFECT 0
#endif

/* ---- blocks ---------------------------------------------------------------------------------- */

void tandem_make_free(struct tandem *t, word *hp, size_t words) {
    t->used(hp, 1);
    *hp = header_make(words - 1, words == 1 ? WHITE : BLUE, 0);
    t->dead(hp + 1, words - 1);
}

static word *next_block(word *hp) {
    return hp + header_wosize(*hp) + 1;
}

/* True if that was news. */
static bool shade(struct tandem *t, word v) {
    word bytes = (word)(t->end - t->heap) * sizeof(word);
    if (is_immediate(v) || v - pointer_word(t->heap) >= bytes)
        return false;
    if (header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v);
    word *hp = word_pointer(v) - 1;
    if (header_colour(*hp) != WHITE)
        return false;
    *hp = header_recolour(*hp, GRAY);
    return true;
}

/* ---- the collector's thread ------------------------------------------------------------------ */

static void wake(struct tandem *t) {
    if (TANDEM_DEFECT == 5)
        pthread_cond_signal(&t->changed);
    else
        pthread_cond_broadcast(&t->changed);
}

/* With the mutex, that is: nobody allocates, and no barrier shades. */
static void shade_roots(struct tandem *t) {
    for (unsigned m = 0; m < TANDEM_MUTATORS; m++)
        for (size_t i = 0; t->roots[m] && i < t->n_roots; i++)
            shade(t, t->roots[m][i]);
}

/* Between two blocks others may have the mutex, and a mutator may write a field at any time: what
 * was there before is shaded by its barrier. */
static bool scan(struct tandem *t, word *hp) {
    bool news = false;
    word v = pointer_word(hp + 1);
    *hp = header_recolour(*hp, BLACK);
    for (size_t i = first_scanned(v); i < header_wosize(*hp); i++)
        news |= shade(t, hp[i + 1]);
    pthread_mutex_unlock(&t->mutex);
    pthread_mutex_lock(&t->mutex);
    return news;
}

static bool has_gray(const struct tandem *t) {
    for (word *hp = t->heap; hp < t->end; hp = next_block(hp))
        if (header_colour(*hp) == GRAY)
            return true;
    return false;
}

static void mark(struct tandem *t) {
    while (has_gray(t))
        for (word *hp = t->heap; hp < t->end; hp = next_block(hp))
            if (header_colour(*hp) == GRAY)
                scan(t, hp);
}

static void sweep(struct tandem *t) {
    for (word *hp = t->heap; hp < t->end;) {
        word *next = hp;
        while (next < t->end && header_colour(*next) != BLACK)
            next = next_block(next);
        if (next > hp)
            tandem_make_free(t, hp, (size_t)(next - hp));
        if (next < t->end) {
            *next = header_recolour(*next, WHITE);
            next = next_block(next);
        }
        hp = next;
    }
}

static void cycle(struct tandem *t) {
    t->wanted = false;
    t->phase = TANDEM_STOPS;
    wake(t);
    while (t->stopped < t->mutators)
        pthread_cond_wait(&t->changed, &t->mutex);
    shade_roots(t);
    t->phase = TANDEM_MARKS;
    wake(t);
    mark(t);
    sweep(t);
    t->phase = TANDEM_RESTS;
    t->cycles++;
    ++*t->ended;
    wake(t);
}

static void *collect(void *context) {
    struct tandem *t = context;
    pthread_mutex_lock(&t->mutex);
    while (!t->quits) {
        if (t->wanted)
            cycle(t);
        else
            pthread_cond_wait(&t->changed, &t->mutex);
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

bool tandem_begin(struct tandem *t) {
    t->phase = TANDEM_RESTS;
    t->wanted = t->quits = false;
    t->stopped = t->mutators = 0;
    t->cycles = 0;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->changed, NULL);
    return pthread_create(&t->thread, NULL, collect, t) == 0;
}

/* ---- mutators -------------------------------------------------------------------------------- */

void tandem_join(struct tandem *t) {
    pthread_mutex_lock(&t->mutex);
    t->mutators++;
    pthread_mutex_unlock(&t->mutex);
}

/* A cycle that waits for all of them to stop has one less to wait for. */
void tandem_leave(struct tandem *t) {
    pthread_mutex_lock(&t->mutex);
    t->mutators--;
    if (TANDEM_DEFECT != 6)
        wake(t);
    pthread_mutex_unlock(&t->mutex);
}

void tandem_safepoint(struct tandem *t) {
    if (t->phase != TANDEM_STOPS)
        return;
    pthread_mutex_lock(&t->mutex);
    if (t->phase == TANDEM_STOPS) {
        t->stopped++;
        wake(t);
        while (t->phase == TANDEM_STOPS)
            pthread_cond_wait(&t->changed, &t->mutex);
        t->stopped--;
    }
    pthread_mutex_unlock(&t->mutex);
}

/* Until a cycle has ended that began after now. */
static void wait_for_cycle(struct tandem *t) {
    uint64_t last = t->cycles + (t->phase == TANDEM_MARKS ? 2 : 1);
    t->stopped += TANDEM_DEFECT != 3;
    while (t->cycles < last) {
        t->wanted |= t->phase == TANDEM_RESTS;
        wake(t);
        pthread_cond_wait(&t->changed, &t->mutex);
    }
    t->stopped -= TANDEM_DEFECT != 3;
}

void tandem_collect(struct tandem *t) {
    pthread_mutex_lock(&t->mutex);
    wait_for_cycle(t);
    pthread_mutex_unlock(&t->mutex);
}

void tandem_want(struct tandem *t) {
    pthread_mutex_lock(&t->mutex);
    t->wanted |= t->phase == TANDEM_RESTS;
    wake(t);
    pthread_mutex_unlock(&t->mutex);
}

static word *find_free(const struct tandem *t, size_t wosize) {
    for (word *hp = t->heap; hp < t->end; hp = next_block(hp))
        if (header_colour(*hp) == BLUE && header_wosize(*hp) >= wosize)
            return hp;
    return NULL;
}

bool tandem_alloc(struct tandem *t, unsigned m, unsigned root, size_t wosize, unsigned tag,
                  const word *content) {
    pthread_mutex_lock(&t->mutex);
    word *hp = find_free(t, wosize);
    if (!hp) {
        wait_for_cycle(t);
        hp = find_free(t, wosize);
    }
    if (hp) {
        size_t rest = header_wosize(*hp) - wosize;
        if (rest > 0)
            tandem_make_free(t, hp + 1 + wosize, rest);
        t->used(hp, wosize + 1);
        for (size_t i = 0; i < wosize; i++)
            hp[i + 1] = content[i];
        bool marks = t->phase == TANDEM_MARKS && TANDEM_DEFECT != 2;
        *hp = header_make(wosize, marks ? BLACK : WHITE, tag);
        t->roots[m][root] = pointer_word(hp + 1);
    }
    pthread_mutex_unlock(&t->mutex);
    return hp;
}

void tandem_store(struct tandem *t, word block, size_t i, word value) {
    word *field = word_pointer(block) + i;
    if (t->phase == TANDEM_MARKS && TANDEM_DEFECT != 1) {
        pthread_mutex_lock(&t->mutex);
        if (t->phase == TANDEM_MARKS || TANDEM_DEFECT == 4)
            shade(t, *field);
        pthread_mutex_unlock(&t->mutex);
    }
    *field = value;
}
