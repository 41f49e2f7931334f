/* SPDX-License-Identifier: MIT
 *
 * The states of a run, recorded as they go by: what the page of show --html is made of.
 *
 * The recorder is an observer.  It runs in the child and writes into memory that it shares with the
 * parent, so that what was seen before a crash is there.  Texts are JSON; docs/pictures.md has
 * their shapes.  The graph is the union of all states of all parties: one layout serves every
 * picture.
 */
#ifndef ISOHEAP_STATES_H
#define ISOHEAP_STATES_H

#include "harness/harness.h"

#include <stdio.h>

enum {
    STATES_KEY = 24,
    STATES_NODES = 8192,
    STATES_EDGES = 16384,
    STATES_FIELDS = 16,       /* cells of a block in the graph; the last stands for the rest */
    STATES_TEXT = 8 << 20,    /* of the states, and of the records */
    STATES_RECORDS = 1 << 16, /* different blocks */
    STATES_SWITCHES = 12      /* of one operation, that are kept */
};

/* How often another thread of the subject went on during an operation: which one, and after how
 * many decisions of the schedule since the reset. */
struct states_switches {
    unsigned n; /* also those that are not kept */
    struct {
        uint64_t decision, thread;
    } at[STATES_SWITCHES];
};
void states_note_switch(struct states_switches *, uint64_t decision, uint64_t thread);
/* "2 switches: thread 4 at 3, 3 at 4"; nothing if there was none. */
void states_print_switches(const struct states_switches *, FILE *);

/* A root or a block; the cells are its head and its fields.  Widths are in points. */
struct states_node {
    char key[STATES_KEY];
    bool is_root;
    bool reached;  /* in some state */
    bool on_path;  /* of the verdict, when it was given */
    uint8_t cells; /* fields that have one */
    uint8_t head;
    uint8_t width[STATES_FIELDS];
};
/* field: STATES_FIELDS - 1 and beyond share a cell; of a root 0. */
struct states_edge {
    uint16_t from, to;
    uint16_t field, offset;
};
struct states_text {
    size_t length; /* what counts; written after the text */
    char text[STATES_TEXT];
};

struct states {
    bool full;    /* something did not fit, and later states are missing */
    long reached; /* the last operation whose state is complete; -1: the initial heap; -2: none */
    unsigned n_nodes, n_edges;
    struct states_node nodes[STATES_NODES];
    struct states_edge edges[STATES_EDGES];
    struct states_text records, states;
    struct states_switches switches[PROGRAM_OPS + 1]; /* the last: of the initial heap */
};

struct recorder;
/* Shared memory for one recording, empty; NULL if the system gives none.  first: states are
 * recorded from the operation of this number on. */
struct recorder *recorder_open(const struct collector *reference, unsigned first);
void recorder_close(struct recorder *);
const struct states *recorder_states(const struct recorder *);

/* The key of a root: "r3", of mutator 2 "2:r3". */
void states_root_key(unsigned m, unsigned slot, char out[STATES_KEY]);

/* The observer; context is the recorder. */
runner_observer record_state;
/* The same, of switches. */
runner_switches record_switch;

#endif
