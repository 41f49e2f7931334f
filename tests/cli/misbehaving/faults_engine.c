/* SPDX-License-Identifier: MIT
 *
 * What faults_test.sh has in place of an engine: it starts the target, which may draw its programs
 * at random, and runs the files that it is given, each once.
 */
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path) {
    static uint8_t data[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file)
        return 2;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv) {
    int status = LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; status == 0 && i < argc; i++)
        if (argv[i][0] != '-')
            status = run_file(argv[i]);
    return status;
}
