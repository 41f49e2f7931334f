/* SPDX-License-Identifier: MIT
 *
 * The environment variables that anything of isoheap reads: X(NAME, who reads it, what it does).
 * `isoheap help` and the manual page have those for users, docs/command.md all of them; a test
 * compares with the sources and the page.
 */
#ifndef ISOHEAP_CLI_ENVIRONMENT_H
#define ISOHEAP_CLI_ENVIRONMENT_H

/* clang-format off */
#define ENVIRONMENT(X)                                                                             \
    X(ISOHEAP_PLUGIN, "isoheap",                                                                   \
      "plug-ins to load, files with colons between them, as --plugin does")                        \
    X(ISOHEAP_UNMASK, "isoheap, fuzz targets",                                                     \
      "known defects of collectors that are not steered around, names with commas or all, as --unmask does") \
    X(NO_COLOR, "isoheap",                                                                         \
      "if set to anything, there is no colour on a terminal either")                               \
    X(ISOHEAP_MUTATION, "fuzz targets, AFL++'s mutator",                                           \
      "the profile of structured mutation, or off (docs/mutation.md)")                             \
    X(ISOHEAP_FRESH, "fuzz targets",                                                               \
      "off: mutation never begins with a new program (docs/mutation.md)")                          \
    X(ISOHEAP_SEMANTIC, "fuzz targets",                                                            \
      "the parts of semantic coverage, or off (docs/mutation.md)")                                 \
    X(CC, "isoheap export", "the C compiler that checks an exported file (default: cc, gcc or clang)") \
    X(TMPDIR, "isoheap export", "where it does that (default: /tmp)")                              \
    X(AFL_CUSTOM_MUTATOR_LIBRARY, "isoheap fuzz --engine=afl",                                     \
      "another custom mutator for AFL++ than isoheap's")
/* Between the parts of isoheap, and for its own tests. */
#define ENVIRONMENT_INSIDE(X)                                                                      \
    X(ISOHEAP_FAULT, "the target of isoheap faults", "shared object of the seeded fault")          \
    X(ISOHEAP_FAULT_INPUT, "the target of isoheap faults", "a file that gets the input that finds it") \
    X(ISOHEAP_FAULT_RECORD, "the target of isoheap faults", "a file where the stages are noted")   \
    X(ISOHEAP_FAULT_ORACLES, "the target of isoheap faults", "bit set of the oracles that judge")  \
    X(ISOHEAP_FAULT_JUDGE, "the target of isoheap faults", "a file to judge with each oracle alone") \
    X(ISOHEAP_FAULT_RANDOM, "the target of isoheap faults", "seed,executions: no engine, programs at random") \
    X(ISOHEAP_CURRENT, "fuzz targets", "the file where a campaign looks for the input that runs")  \
    X(ISOHEAP_GO_ON, "fuzz targets", "the folder where a campaign looks for inputs after which the target went on") \
    X(ISOHEAP_SERVE, "fuzz targets", "what a target shares with the command whose programs it judges") \
    X(ISOHEAP_INPUT_SECONDS, "isoheap fuzz, corpus", "seconds of processor time that a finding may take, 10 if it is not set") \
    X(ISOHEAP_UPDATE, "tests", "golden files are written anew")                                    \
    X(ISOHEAP_FIND_SEEDS, "tests", "onthefly_seeds_test writes the seeds that are missing there")  \
    X(ISOHEAP_ROUNDS, "tests", "how many programs legal_test makes for each collector") \
    X(ISOHEAP_STRESS_SECONDS, "tests", "how long the stress tests run: onthefly_stress_test, onthefly_shared_test, ocaml5_threads_test") \
    X(STALE, "tests", "what the collector stale does instead of reading what it has freed")        \
    X(UNRULY, "tests", "what the collector unruly does to those around it")
/* clang-format on */

#endif
