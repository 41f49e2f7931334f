/* SPDX-License-Identifier: MIT
 *
 * Optional: what a language runtime has besides a collector.  A collector with it is judged by the
 * meaning that each operation has in OCaml (docs/program.md); for the others operations of the
 * runtime are the nearest thing that they have.
 *
 * Slots and results as in struct collector.  An ephemeron is a block of tag 0: field 0 is its data,
 * from 1 on its keys.  What a program may not observe reads as unit: a field that is not set, a key
 * that nothing else reaches, the data of an ephemeron with such a key.
 */
#ifndef ISOHEAP_EXTRAS_H
#define ISOHEAP_EXTRAS_H

#include "collectors/layout.h" /* word */

struct gc;
/* What every operation may answer.  What stands in no comment here is no answer to it. */
enum gc_result {
    GC_OK,            /* done; step: a cycle is under way, maybe the next one already */
    GC_OUT_OF_MEMORY, /* no effect: heap and slots as before, but for a collection; by others than
                         those that allocate only with the trait may_refuse */
    GC_PENDING,       /* not finished: poll this mutator until another result comes */
    GC_IDLE           /* step: no cycle is under way.  Who begins the next one where one ends never
                         says so */
};

/* A finaliser that does something with its value: the block, or unit if it is the last.  Its slots
 * are those of the mutator that runs it. */
struct gc_finaliser {
    /* First it makes a block of tag 0 from the value and what this slot holds, and puts it there.
     * Then hooks->handed is called, which says who runs it. */
    unsigned given;
    enum gc_act {
        GC_ACT_KEEP,    /* puts the value into `slot` */
        GC_ACT_COLLECT, /* the same, and collects fully */
        GC_ACT_AGAIN,   /* the same, and finalises the value again: number `again`, GC_ACT_NONE */
        GC_ACT_WEAKEN,  /* sets the first key of an ephemeron in that slot, or behind Forward blocks
                           there, to the value, or the data if it has no key; else nothing */
        GC_ACT_RAISE,   /* puts it into the slot, and raises an exception, which is caught */
        GC_ACT_NONE
    } act;
    unsigned slot;
    uint64_t again;
};

/* What is done to a marshalled text before it is read.  Each makes the reading raise an exception,
 * whatever the text is, by a check that the runtime has; what it does with other damage, nobody
 * says. */
enum gc_damage {
    GC_DAMAGE_CUT,    /* so many bytes are missing at its end, modulo what follows the header */
    GC_DAMAGE_MAGIC,  /* a byte of the magic number is another: the n-th, modulo 4 */
    GC_DAMAGE_LENGTH, /* the header says that n + 1 bytes more follow it than do */
    GC_DAMAGE_SIZE,   /* the header says more words than the runtime can get */
    GC_DAMAGE_COUNT,  /* the same of the number of blocks */
    GC_DAMAGE_CODE,   /* the n-th code, modulo the codes that there are, has no meaning */
    GC_DAMAGE_NAME,   /* the n-th name of code or of custom operations is unknown, or what stands
                         behind it cannot be; there is one */
    GC_DAMAGE_NONE,   /* none: the value cannot be written.  Bits of n: 1 no sharing, 2 closures */
};

struct gc_extras {
    /* dst := an ephemeron with so many keys; may collect. */
    enum gc_result (*ephemeron)(struct gc *, unsigned dst, size_t keys);
    void (*set)(struct gc *, unsigned obj, size_t i, unsigned value);
    void (*unset)(struct gc *, unsigned obj, size_t i);
    /* dst := field i; false: it is not set, dst is as it was.  If that is a block which no slot
     * reached, hooks->collections has grown. */
    bool (*get)(struct gc *, unsigned dst, unsigned obj, size_t i);
    /* n keys; i = j = 0: the data. */
    void (*blit)(struct gc *, unsigned src, size_t i, unsigned dst, size_t j, size_t n);
    /* dst := a custom block with so many words of 0; when it dies, hooks->finalised is called with
     * that number. */
    enum gc_result (*resource)(struct gc *, unsigned dst, size_t words, uint64_t number);
    /* The block with tag 246 and one field gets tag 250 and that field. */
    void (*forward)(struct gc *, unsigned obj, unsigned value);
    /* The block keeps n of its fields, at least one and fewer than it has.  NULL: the fields that
     * go become unit, by stores. */
    void (*truncate)(struct gc *, unsigned obj, size_t n);
    /* hooks->finalised is called when the block dies; last: after its weak pointers are cleared.
     * GC_OUT_OF_MEMORY after starve alone: it is not called. */
    enum gc_result (*finalise)(struct gc *, unsigned obj, uint64_t number, bool last);
    /* dst := a copy of what src reaches, so many words with headers. */
    enum gc_result (*marshal)(struct gc *, unsigned dst, unsigned src, bool unshared, size_t words);
    /* Words with headers that the block reaches; SIZE_MAX: no answer. */
    size_t (*measure)(struct gc *, unsigned obj);
    /* May be NULL, as what follows may.  Is field i set?  What it holds may die nevertheless. */
    bool (*is_set)(struct gc *, unsigned obj, size_t i);
    /* dst := a block like the one that field i leads to, of so many words, with the same in its
     * fields; or what the field holds, if that is no block of the heap or a custom one.  *is_set:
     * false, and dst is as it was, if it is not set.  hooks->collections has grown as for get. */
    enum gc_result (*copy)(struct gc *, unsigned dst, unsigned obj, size_t i, size_t words,
                           bool *is_set);
    /* NULL: by stores.  n fields of the block from i on := value; may collect. */
    void (*fill)(struct gc *, unsigned obj, size_t i, size_t n, unsigned value);
    /* NULL: not done.  dst := n fields of the block from i on, at least one, as Array.sub makes an
     * array of them; raw words if it has those. */
    enum gc_result (*sub)(struct gc *, unsigned dst, unsigned src, size_t i, size_t n);
    /* dst := the fields of src and of other, and if thrice those of src once more: so many. */
    enum gc_result (*append)(struct gc *, unsigned dst, unsigned src, unsigned other, bool thrice,
                             size_t words);
    /* dst := a block of these words with the tag and what stands in src. */
    enum gc_result (*dup)(struct gc *, unsigned dst, unsigned src, unsigned tag, size_t words);
    /* A block becomes like another one of the same size: its tag and fields are that one's. */
    void (*update)(struct gc *, unsigned obj, unsigned value);
    /* dst := a Forward block to the value. */
    enum gc_result (*forwarding)(struct gc *, unsigned dst, unsigned value);
    /* As marshal; the value may have closures, whose code pointers stay the same. */
    enum gc_result (*clone)(struct gc *, unsigned dst, unsigned src, bool unshared, size_t words);
    /* dst := unit, since an exception is raised when src is marshalled and what comes of it is
     * damaged and read.  If none is: what it gives, and hooks->collections has grown. */
    enum gc_result (*damage)(struct gc *, unsigned dst, unsigned src, enum gc_damage, size_t n);
    /* n > 0: of the requests for memory of a kilobyte or more the n-th from now on is refused, and
     * all that follow; 0: none.  A function that allocates, finalise, finalise_then and switch_kind
     * say that they are out of memory, and have no effect, but that a kind may be set in part; the
     * others go on with what there is.  Where that is not enough hooks->ended is called. */
    void (*starve)(struct gc *, unsigned n);
    /* As finalise.  What it does may change slots, of any mutator that is there, and happens in
     * collections, steps and act alone.
     * It is not done if the heap of the program has no room for what the value reaches. */
    enum gc_result (*finalise_then)(struct gc *, unsigned obj, uint64_t number, bool last,
                                    const struct gc_finaliser *);
    /* Runs the finalisers that wait: called between operations as long as any may. */
    void (*act)(struct gc *);
};

/* A known defect of a collector, and a switch that steers around it, so that other defects can be
 * found.  Bit n of config.masks is the n-th; all are on unless `--unmask`, or
 * ISOHEAP_UNMASK in the environment, names them, separated by commas, or says `all`. */
struct gc_mask {
    const char *name, *meaning;
};

#endif
