/* SPDX-License-Identifier: MIT
 *
 * Marshalling, of custom blocks and closures too, and texts that are damaged before they are read
 * (collectors/extras.h).
 *
 * The code pointers of programs belong to one fragment of code, which nobody runs and whose digest
 * is given.  A damaged text is in the runtime's heap, as Marshal has it, and may move while it is
 * read.
 */
#include "collectors/ocaml/internal.h"

#include <string.h>

#include <caml/alloc.h>
#include <caml/codefrag.h>
#include <caml/custom.h>
#include <caml/intext.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

/* In no header. */
extern value caml_output_value_to_bytes(value v, value flags);
extern value caml_input_value_from_bytes(value text, value offset);

/* ---- what the runtime asks of a program ---------------------------------------------------------
 */

/* The words of a program, how many there are before them; each is one of data. */
static void write_custom(value v, uintnat *bytes_32, uintnat *bytes_64) {
    const word *words = word_pointer((word)v) + CUSTOM_HIDDEN;
    uintnat n = Wosize_val(v) - CUSTOM_HIDDEN;
    caml_serialize_int_8((int64_t)n);
    for (uintnat i = 0; i < n; i++)
        caml_serialize_int_8((int64_t)words[i]);
    *bytes_32 = *bytes_64 = (n + CUSTOM_HIDDEN - 1) * sizeof(word);
}

static uintnat read_custom(void *data) {
    word *words = data;
    uintnat n = (uintnat)caml_deserialize_uint_8();
    for (unsigned i = 0; i < CUSTOM_HIDDEN - 1; i++)
        *words++ = WORD_UNIT;
    for (uintnat i = 0; i < n; i++)
        *words++ = caml_deserialize_uint_8();
    return (n + CUSTOM_HIDDEN - 1) * sizeof(word);
}

struct custom_operations custom_plain = {"isoheap",
                                         custom_finalize_default,
                                         custom_compare_default,
                                         custom_hash_default,
                                         write_custom,
                                         read_custom,
                                         custom_compare_ext_default,
                                         custom_fixed_length_default};

enum { DIGEST_BYTES = 16 };

void marshalling_begin(void) {
    static unsigned char digest[DIGEST_BYTES] = "isoheap programs";
    char *first = (char *)code_pointer(0);
    caml_register_custom_operations(&custom_plain);
    caml_register_code_fragment(first, first + INT32_MAX, DIGEST_PROVIDED, digest);
}

/* ---- copies -----------------------------------------------------------------------------------
 */

/* As the constructors of Marshal.extern_flags are numbered. */
enum { NO_SHARING, CLOSURES };

static value flag_list(bool unshared, bool closures) {
    CAMLparam0();
    CAMLlocal1(list);
    list = Val_emptylist;
    for (int flag = NO_SHARING; flag <= CLOSURES; flag++) {
        if (flag == NO_SHARING ? !unshared : !closures)
            continue;
        value cell = caml_alloc_small(2, 0);
        Field(cell, 0) = Val_int(flag);
        Field(cell, 1) = list;
        list = cell;
    }
    CAMLreturn(list);
}

/* Marshal.from_string (Marshal.to_string v flags) 0 */
static enum gc_result copy(struct gc *g, unsigned dst, unsigned src, bool unshared, bool closures,
                           size_t words) {
    runtime_begin(g);
    if (!runtime_has_room(g, words - 1))
        return GC_OUT_OF_MEMORY;
    g->unshared |= unshared; /* one that is refused may have got so far, or not */
    RUNTIME_GUARD(g, dst);
    char *bytes;
    intnat length;
    value flags = flag_list(unshared, closures);
    caml_output_value_to_malloc((value)root_get(src), flags, &bytes, &length);
    g->unshared = unshared;
    root_set(dst, (word)caml_input_value_from_malloc(bytes, 0));
    runtime_end_anew(g);
    return GC_OK;
}

enum gc_result runtime_marshal(struct gc *g, unsigned dst, unsigned src, bool unshared,
                               size_t words) {
    return copy(g, dst, src, unshared, false, words);
}

enum gc_result runtime_clone(struct gc *g, unsigned dst, unsigned src, bool unshared,
                             size_t words) {
    return copy(g, dst, src, unshared, true, words);
}

/* ---- texts --------------------------------------------------------------------------------------
 *
 * A header of twenty bytes: magic number, bytes of data, blocks, words on a machine of 32 and of 64
 * bits.  Then codes, each with what belongs to it.
 */

enum { MAGIC_BYTES = 4, LENGTH_AT = 4, COUNT_AT = 8, SIZE_AT = 16, HEADER_BYTES = 20 };

/* Behind the identifier of custom operations: bytes on a machine of 32 and of 64 bits. */
enum { SIZE_32_BYTES = 4, SIZE_64_BYTES = 8 };

static size_t number_at(const unsigned char *text, size_t bytes) {
    size_t n = 0;
    while (bytes-- > 0)
        n = n << 8 | *text++;
    return n;
}

static void put_number(unsigned char *text, uint32_t n) {
    for (int shift = 24; shift >= 0; shift -= 8)
        *text++ = (unsigned char)(n >> shift);
}

/* Of a code whose number follows: bytes of the number, bytes of each of so many things. */
static const struct form {
    unsigned char code, number, each, more;
} forms[] = {
    {CODE_INT8, 0, 0, 1},
    {CODE_INT16, 0, 0, 2},
    {CODE_INT32, 0, 0, 4},
    {CODE_INT64, 0, 0, 8},
    {CODE_SHARED8, 0, 0, 1},
    {CODE_SHARED16, 0, 0, 2},
    {CODE_SHARED32, 0, 0, 4},
    {CODE_BLOCK32, 0, 0, 4},
    {CODE_BLOCK64, 0, 0, 8},
    {CODE_STRING8, 1, 1, 0},
    {CODE_STRING32, 4, 1, 0},
    {CODE_DOUBLE_BIG, 0, 0, 8},
    {CODE_DOUBLE_LITTLE, 0, 0, 8},
    {CODE_DOUBLE_ARRAY8_BIG, 1, 8, 0},
    {CODE_DOUBLE_ARRAY8_LITTLE, 1, 8, 0},
    {CODE_DOUBLE_ARRAY32_BIG, 4, 8, 0},
    {CODE_DOUBLE_ARRAY32_LITTLE, 4, 8, 0},
    {CODE_CODEPOINTER, 0, 0, 4 + DIGEST_BYTES},
    {CODE_INFIXPOINTER, 0, 0, 4},
};

static bool is_custom(unsigned char code) {
    return code == CODE_CUSTOM_LEN || code == CODE_CUSTOM_FIXED;
}

static size_t length_of_custom(const unsigned char *at) {
    size_t name = 1 + strlen((const char *)at + 1) + 1;
    size_t n = number_at(at + name + SIZE_32_BYTES + SIZE_64_BYTES, 8);
    return name + SIZE_32_BYTES + SIZE_64_BYTES + (n + 1) * sizeof(word);
}

/* Bytes of a code and of what belongs to it. */
static size_t length_of(const unsigned char *at) {
    unsigned char code = *at;
    if (code >= PREFIX_SMALL_INT)
        return 1;
    if (code >= PREFIX_SMALL_STRING)
        return 1 + (size_t)(code - PREFIX_SMALL_STRING);
    if (is_custom(code))
        return length_of_custom(at);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].code == code)
            return 1 + forms[i].more + forms[i].number +
                   forms[i].each * number_at(at + 1, forms[i].number);
    runtime_broken("a marshalled text has a code without a meaning");
    return 1;
}

static bool has_name(unsigned char code) {
    return code == CODE_CODEPOINTER || is_custom(code);
}

/* The n-th code, modulo those that there are; with a name, or any.  There is one. */
static unsigned char *find_code(unsigned char *text, size_t length, bool named, size_t n) {
    for (size_t count = 0;;) {
        for (size_t at = HEADER_BYTES; at < length; at += length_of(text + at)) {
            if (named && !has_name(text[at]))
                continue;
            if (count++ == n)
                return text + at;
        }
        if (count == 0)
            runtime_broken("a marshalled text has no code to damage");
        n = n % count;
        count = 0;
    }
}

/* An odd number: behind the name stands an offset that the code has not, or a size that the block
 * has not. */
static void damage_name(unsigned char *at, size_t n) {
    if (*at == CODE_CODEPOINTER) {
        if (n % 2)
            put_number(at + 1, UINT32_MAX);
        else
            at[1 + 4 + n / 2 % DIGEST_BYTES] ^= 1;
        return;
    }
    size_t name = strlen((const char *)at + 1);
    if (n % 2 && *at == CODE_CUSTOM_LEN)
        at[1 + name + 1 + SIZE_32_BYTES + SIZE_64_BYTES - 1] ^= 8;
    else
        at[1 + n / 2 % name] ^= 1;
}

/* Codes below this one and from CODE_CUSTOM_FIXED on mean nothing. */
enum { CODES_WITHOUT_MEANING = PREFIX_SMALL_STRING - CODE_CUSTOM_FIXED - 1 };

static void damage_text(unsigned char *text, size_t length, enum gc_damage damage, size_t n) {
    enum { MUCH = (int)0xf0 << 24 };
    switch (damage) {
    case GC_DAMAGE_MAGIC:
        text[n % MAGIC_BYTES] ^= 0x40;
        return;
    case GC_DAMAGE_LENGTH:
        put_number(text + LENGTH_AT, (uint32_t)(length - HEADER_BYTES + 1 + n));
        return;
    case GC_DAMAGE_SIZE:
        put_number(text + SIZE_AT, (uint32_t)MUCH | (uint32_t)n);
        return;
    case GC_DAMAGE_COUNT:
        put_number(text + COUNT_AT, (uint32_t)MUCH | (uint32_t)n);
        return;
    case GC_DAMAGE_CODE:
        *find_code(text, length, false, n) =
            (unsigned char)(CODE_CUSTOM_FIXED + 1 + n % CODES_WITHOUT_MEANING);
        return;
    case GC_DAMAGE_NAME:
        damage_name(find_code(text, length, true, n), n);
        return;
    case GC_DAMAGE_CUT:
    case GC_DAMAGE_NONE:
        return;
    }
}

struct reading {
    unsigned dst, src;
    enum gc_damage damage;
    size_t n;
};

/* Without so many bytes of what follows the header, at least one. */
static value cut_text(value whole, size_t n) {
    CAMLparam1(whole);
    size_t length = caml_string_length(whole);
    length -= 1 + n % (length - HEADER_BYTES);
    value text = caml_alloc_string(length);
    memcpy(Bytes_val(text), Bytes_val(whole), length);
    CAMLreturn(text);
}

static void read_damaged(void *context) {
    const struct reading *r = context;
    bool writes = r->damage == GC_DAMAGE_NONE;
    CAMLparam0();
    CAMLlocal1(text);
    value flags = flag_list(writes && r->n & 1, !writes || r->n & 2);
    text = caml_output_value_to_bytes((value)root_get(r->src), flags);
    if (r->damage == GC_DAMAGE_CUT)
        text = cut_text(text, r->n);
    damage_text(Bytes_val(text), caml_string_length(text), r->damage, r->n);
    root_set(r->dst, (word)caml_input_value_from_bytes(text, Val_long(0)));
    CAMLreturn0;
}

enum gc_result runtime_damage(struct gc *g, unsigned dst, unsigned src, enum gc_damage damage,
                              size_t n) {
    struct reading reading = {dst, src, damage, n};
    runtime_begin(g);
    root_set(dst, WORD_UNIT);
    bool unshared = damage == GC_DAMAGE_NONE && n & 1;
    g->unshared |= unshared;
    if (runtime_try(read_damaged, &reading))
        g->unshared = unshared;
    runtime_end_anew(g);
    return GC_OK;
}
