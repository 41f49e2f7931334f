/* SPDX-License-Identifier: MIT
 *
 * A target that misbehaves on purpose, for the test of the standalone runner: the first byte of an
 * input says how.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *target_refusal(void);

static const char *refusal;

const char *target_refusal(void) {
    return refusal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned calls;
    volatile unsigned spin = 1;
    calls++;
    refusal = NULL;
    switch (size ? data[0] : 0) {
    case 'a':
        fprintf(stderr, "call %u aborts\n", calls);
        abort();
    case 'k':
        raise(SIGKILL);
        break;
    case 'e':
        exit(77);
    case 'h':
        while (spin)
            ;
        break;
    case 's': /* state between inputs: bad from the second call on */
        if (calls > 1)
            abort();
        break;
    case 'n': /* none that can be run */
        refusal = "it begins with n";
        break;
    default:
        break;
    }
    return 0;
}
