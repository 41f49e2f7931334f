/* SPDX-License-Identifier: MIT
 *
 * The variables of the OCaml runtime, and whose runtime this process has.
 *
 * It can be started once in a process.  Its variables are in sections of their own (the build sees
 * to it), which are saved before the first start; putting them back and giving all memory back
 * makes the next start the first one, whatever ran before.
 */
#include "collectors/ocaml/internal.h"
#include "collectors/sections.h"
#include "collectors/threads/threads.h"

/* ---- variables ----------------------------------------------------------------------------------
 */

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#define SECTION(side, kind)                                                                        \
    JOIN(side, ISOHEAP_COLLECTOR, kind) /* __start_NAME and __stop_NAME are the linker's */
extern char SECTION(__start_, _data)[], SECTION(__stop_, _data)[];
extern char SECTION(__start_, _bss)[], SECTION(__stop_, _bss)[];

static struct sections variables;
static struct gc *current; /* the runtime's functions have no argument for that */

bool runtime_save(void) {
    return variables.n > 0 ||
           (sections_add(&variables, SECTION(__start_, _data), SECTION(__stop_, _data)) &&
            sections_add(&variables, SECTION(__start_, _bss), SECTION(__stop_, _bss)));
}

void runtime_put_back(struct gc *g) {
    sections_put_back(&variables);
    region_reset(g->config.hooks);
    current = g;
}

/* ---- whose it is --------------------------------------------------------------------------------
 */

struct gc *runtime_of_process(void) {
    return current;
}

static void say_broken(void *sentence) {
    current->config.hooks->broken(current->config.hooks, sentence);
}

/* What does not return is called on the stack of whoever has called the runtime. */
#ifdef ISOHEAP_DOMAINS
void runtime_broken(const char *sentence) {
    threads_outside(say_broken, (void *)(uintptr_t)sentence);
}
#else
void runtime_broken(const char *sentence) {
    say_broken((void *)(uintptr_t)sentence);
}
#endif

void runtime_ended(const char *sentence) {
    current->config.hooks->ended(current->config.hooks, sentence);
}

void runtime_finalised(uint64_t number) {
    if (current->config.hooks->finalised)
        current->config.hooks->finalised(current->config.hooks, number);
}

/* ---- parameters ---------------------------------------------------------------------------------
 */

const char *const runtime_variants[] = {"default", "slow", "eager",
                                        VARIANT_SAMPLED < VARIANTS ? "sampled" : NULL, NULL};

/* Percent of garbage that the major heap may have: how much a slice does.  With 1000 a graph of a
 * dozen blocks takes several slices to mark. */
static const unsigned space_overhead[] = {120, 1000, 20, [VARIANT_SAMPLED] = 120};
unsigned runtime_space_overhead(unsigned variant) {
    return space_overhead[variant % (sizeof space_overhead / sizeof *space_overhead)];
}
