// SPDX-License-Identifier: MIT
//
// Flint: a collector in C++ with objects of its own, as an example of a plug-in with a shadow.
//
// The collector is the class Heap: mark and sweep over objects that each have a vector of values.
// It knows nothing of isoheap.  The adapter below it lets collectors/shadow.h show its objects as
// blocks of OCaml's layout; docs/plug-in.md says when that is the way.
#include "collectors/collector.h"
#include "collectors/shadow.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

// ---- the collector
// -------------------------------------------------------------------------------

namespace {

// A reference is the number of an object, shifted, and 8 * i more if it leads to its field i.
using Value = word;
enum { NUMBER_BITS = 20 }; // below them: the field

struct Object {
    Value number;
    std::vector<Value> fields;
    std::size_t first_reference; // fields before it are data
    unsigned char tag;
    bool marked;
};

class Heap {
  public:
    Object *make(std::size_t size, unsigned char tag, std::size_t first_reference) {
        objects.push_back(std::unique_ptr<Object>(
            new Object{next++, std::vector<Value>(size), first_reference, tag, false}));
        words += size + 1;
        return objects.back().get();
    }

    static Value reference(const Object *object) {
        return object->number << NUMBER_BITS;
    }

    // Does the value lead to an object that there is, or was?
    bool is_reference(Value value) const {
        return !(value & 1) && value >> NUMBER_BITS > 0 && value >> NUMBER_BITS < next;
    }

    // The object that a value leads to, or NULL.
    Object *find(Value value) const {
        auto at = std::lower_bound(
            objects.begin(), objects.end(), value >> NUMBER_BITS,
            [](const std::unique_ptr<Object> &o, Value number) { return o->number < number; });
        bool found =
            is_reference(value) && at != objects.end() && (*at)->number == value >> NUMBER_BITS;
        return found ? at->get() : nullptr;
    }

    template <typename Tick> void collect(const Value *roots, std::size_t n, Tick tick) {
        std::vector<Object *> gray;
        for (std::size_t i = 0; i < n; i++)
            shade(roots[i], gray);
        while (!gray.empty()) {
            Object *object = gray.back();
            gray.pop_back();
            tick();
            for (std::size_t i = object->first_reference; i < object->fields.size(); i++)
                shade(object->fields[i], gray);
        }
        sweep(tick);
    }

    std::vector<std::unique_ptr<Object>> objects; // in the order of their numbers
    std::size_t words = 0;                        // as OCaml would count them

  private:
    Value next = 1;

    void shade(Value value, std::vector<Object *> &gray) {
        Object *object = find(value);
        if (object && !object->marked) {
            object->marked = true;
            gray.push_back(object);
        }
    }

    template <typename Tick> void sweep(Tick tick) {
        std::size_t kept = 0;
        for (auto &object : objects) {
            tick();
            if (!object->marked) {
                words -= object->fields.size() + 1;
                continue;
            }
            object->marked = false;
            objects[kept++].swap(object);
        }
        objects.resize(kept);
    }
};

} // namespace

// ---- the adapter
// ---------------------------------------------------------------------------------

struct gc {
    shadow seen;
    gc_config config;
    Heap heap;
};

namespace {

enum { CAPACITY = 1 << 16 };

shadow_kind look(gc *g, word own, word *block, std::size_t *fields) {
    if (!g->heap.is_reference(own))
        return SHADOW_DATA;
    const Object *object = g->heap.find(own);
    if (!object)
        return SHADOW_LOST; // it has been freed
    *block = Heap::reference(object);
    *fields = (own - *block) / sizeof(word);
    return SHADOW_BLOCK;
}

word header(gc *g, word block) {
    const Object *object = g->heap.find(block);
    return header_make(object->fields.size(), WHITE, object->tag);
}

void copy(gc *g, word block, word *to, std::size_t wosize) {
    const Object *object = g->heap.find(block);
    for (std::size_t i = 0; object && i < wosize; i++)
        to[i] = i < object->first_reference ? object->fields[i]
                                            : shadow_of(&g->seen, object->fields[i]);
}

void each(gc *g, void (*visit)(void *, word), void *garbage) {
    for (const auto &object : g->heap.objects)
        visit(garbage, Heap::reference(object.get()));
}

const shadow_subject subject = {0, WORD_UNIT, look, header, copy, nullptr, nullptr};

gc *flint_open() {
    gc *g = new (std::nothrow) gc();
    if (g && shadow_open(&g->seen, g, &subject, CAPACITY))
        return g;
    delete g;
    return nullptr;
}

void flint_close(gc *g) {
    shadow_close(&g->seen);
    delete g;
}

void flint_reset(gc *g, const gc_config *config) {
    g->config = *config;
    g->heap = Heap();
    shadow_reset(&g->seen, config);
}

gc_result flint_collect(gc *g, gc_collection) {
    shadow_read_slots(&g->seen);
    g->heap.collect(&g->seen.roots[0][0], sizeof g->seen.roots / sizeof(word),
                    [g] { gc_tick(g->config.hooks); });
    shadow_write(&g->seen);
    g->config.hooks->collections++;
    return GC_OK;
}

gc_result flint_alloc(gc *g, unsigned m, unsigned dst, std::size_t wosize, unsigned tag,
                      const word *raw) {
    if (wosize >= g->config.heap_words - g->heap.words)
        flint_collect(g, GC_FULL);
    if (wosize >= g->config.heap_words - g->heap.words)
        return GC_OUT_OF_MEMORY;
    std::size_t first = tag >= TAG_NO_SCAN   ? wosize
                        : tag == TAG_CLOSURE ? closinfo_start_env(raw[1])
                                             : 0;
    Object *object = g->heap.make(wosize, static_cast<unsigned char>(tag), first);
    for (std::size_t i = 0; i < wosize; i++)
        object->fields[i] = raw[i];
    g->config.slots[m][dst] = shadow_show(&g->seen, Heap::reference(object));
    return GC_OK;
}

// Field i of what a slot leads to, in the subject; NULL: a static block, which is not its own.
Value *field(gc *g, unsigned m, unsigned obj, std::size_t i) {
    Object *object = g->heap.find(shadow_original(&g->seen, g->config.slots[m][obj]));
    return object ? &object->fields[i] : nullptr;
}

void write(gc *g, unsigned m, unsigned obj, std::size_t i, word shown) {
    if (Value *own = field(g, m, obj, i))
        *own = shadow_original(&g->seen, shown);
    word_pointer(g->config.slots[m][obj])[i] = shown;
}

gc_result flint_store(gc *g, unsigned m, unsigned obj, std::size_t i, unsigned value) {
    write(g, m, obj, i, g->config.slots[m][value]);
    return GC_OK;
}

void flint_init(gc *g, unsigned m, unsigned obj, std::size_t i, unsigned value) {
    write(g, m, obj, i, g->config.slots[m][value]);
}

gc_result flint_load(gc *g, unsigned m, unsigned dst, unsigned obj, std::size_t i) {
    word *slots = g->config.slots[m];
    const Value *own = field(g, m, obj, i);
    slots[dst] = own ? shadow_show(&g->seen, *own) : word_pointer(slots[obj])[i];
    return GC_OK;
}

void flint_write_raw(gc *g, unsigned m, unsigned obj, std::size_t i, word raw) {
    if (Value *own = field(g, m, obj, i))
        *own = raw;
    word_pointer(g->config.slots[m][obj])[i] = raw;
}

void flint_walk(gc *g, gc_visit *visit, void *context) {
    shadow_refresh(&g->seen);
    shadow_walk(&g->seen, visit, context, each);
}

const char *flint_check(gc *g) {
    return shadow_check(&g->seen);
}

} // namespace

extern const collector flint; // else its name would be this file's alone
const collector flint = {
    .name = "flint",
    .summary = "mark and sweep in C++, behind a shadow; an example of docs/plug-in.md",
    .traits = {.moves = true, // in the shadow
               .infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .ticks = true,
               .whitens = true,
               .full_until_exact = 1,
               .renews = true,
               .refusal = REFUSES_EXACTLY,
               .max_heap_words = CAPACITY,
               .max_mutators = GC_MUTATORS},
    .open = flint_open,
    .reset = flint_reset,
    .close = flint_close,
    .alloc = flint_alloc,
    .init = flint_init,
    .load = flint_load,
    .store = flint_store,
    .write_raw = flint_write_raw,
    .collect = flint_collect,
    .walk = flint_walk,
    .check = flint_check,
};
