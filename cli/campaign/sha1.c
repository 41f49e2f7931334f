/* SPDX-License-Identifier: MIT
 *
 * SHA-1 (FIPS 180-4), by which libFuzzer names inputs: a file whose content is not what its name
 * says has not been written to its end (campaign.h).
 */
#include "cli/campaign/campaign.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 80, WORDS = 5 };

static uint32_t rotate(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

/* Section 6.1.2 of the standard; f and k of a round are those of sections 4.1.1 and 4.2.1. */
static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d) {
    if (round < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (round < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void take_block(uint32_t h[WORDS], const uint8_t block[BLOCK]) {
    uint32_t w[ROUNDS], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (unsigned t = 0; t < ROUNDS; t++)
        w[t] = t < 16 ? (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
                            (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3]
                      : rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (unsigned t = 0; t < ROUNDS; t++) {
        uint32_t next = rotate(a, 5) + mix(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void name_by_sha1(const void *data, size_t size, char name[41]) {
    uint32_t h[WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const uint8_t *bytes = data;
    uint8_t last[2 * BLOCK] = {0};
    size_t whole = size / BLOCK, rest = size % BLOCK;
    size_t blocks = rest + 9 > BLOCK ? 2 : 1;
    for (size_t i = 0; i < whole; i++)
        take_block(h, bytes + i * BLOCK);
    if (rest)
        memcpy(last, bytes + whole * BLOCK, rest);
    last[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        last[blocks * BLOCK - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (size_t i = 0; i < blocks; i++)
        take_block(h, last + i * BLOCK);
    for (unsigned i = 0; i < WORDS; i++)
        snprintf(name + 8 * i, 9, "%08x", (unsigned)h[i]);
}
