// Repeats recorded calls of the native core with a library of another platform.
//     repeat_calls LIBRARY CALLS
// Whole numbers must be equal, reals to 1e-12 of their size. What stands in place of the
// comment below is written by record_calls.py.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static const double kTolerance = 1e-12;

typedef struct {
    void* pointer;
    int64_t integer;
    double real;
} Argument;

// An argument, or (with a holder) an address inside a structure.
typedef struct {
    char tag;
    char unused[7];
    union {
        int64_t integer;
        double real;
    };
    int64_t inner_offset, holder, holder_offset;
} Slot;

typedef struct {
    char kind;
    char unused[7];
    int64_t size;
} RegionHead;

typedef struct {
    RegionHead head;
    char *memory, *expected;
} Region;

/* functions */

static FILE* file;

static void* take(void* target, int64_t size) {
    if (size && fread(target, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "the file of calls is cut off\n");
        exit(2);
    }
    return target;
}

static void* memory(int64_t size) {
    // Never given back: handles may look at what they were made of.
    void* found = calloc(1, (size_t)size + 64);
    return (void*)(((uintptr_t)found + 63) & ~(uintptr_t)63);
}

static void* symbol(const char* path, const char* name) {
#ifdef _WIN32
    static HMODULE library;
    if (!library) library = LoadLibraryA(path);
    void* found = library ? (void*)GetProcAddress(library, name) : NULL;
    if (!found) fprintf(stderr, "%s: error %lu\n", name, GetLastError());
#else
    static void* library;
    if (!library) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* found = library ? dlsym(library, name) : NULL;
    if (!found) fprintf(stderr, "%s: %s\n", name, dlerror());
#endif
    if (!found) exit(2);
    return found;
}

// Largest difference between two lists of reals, as a share of their size.
static double difference(const double* a, const double* b, int64_t n, int64_t* n_unequal) {
    double largest = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        if (memcmp(a + i, b + i, sizeof *a) == 0) continue;
        if (isnan(a[i]) && isnan(b[i])) continue;
        ++*n_unequal;
        const double size = fmax(1.0, fmax(fabs(a[i]), fabs(b[i])));
        const double apart = fabs(a[i] - b[i]) / size;
        if (!(apart <= largest)) largest = apart;
    }
    return largest;
}

int main(int argc, char** argv) {
    enum { kMost = 256 };
    const int64_t n_functions = sizeof names / sizeof *names;
    if (argc != 3 || !(file = fopen(argv[2], "rb"))) return 2;
    int64_t n_calls, n_reals = 0, n_unequal = 0, n_wrong = 0, n_handles = 0, head[4];
    double largest = 0.0;
    void** handles = NULL;
    take(&n_calls, sizeof n_calls);
    for (int64_t number = 0; number < n_calls; ++number) {
        Slot slots[kMost];
        Region regions[kMost];
        Argument arguments[kMost];
        take(head, sizeof head);
        const int64_t function = head[0], n_regions = head[1], n_slots = head[2];
        if (function >= n_functions || n_regions > kMost || n_slots > kMost) return 2;
        take(slots, n_slots * (int64_t)sizeof *slots);
        for (int64_t r = 0; r < n_regions; ++r) {
            Region* region = regions + r;
            take(&region->head, sizeof region->head);
            region->memory = memory(region->head.size);
            region->expected = memory(region->head.size);
            take(region->memory, region->head.size);
            take(region->expected, region->head.size);
        }
        for (int64_t s = 0; s < n_slots; ++s) {
            const Slot* slot = slots + s;
            Argument value = {NULL, slot->integer, slot->real};
            if (slot->tag == 'h') value.pointer = handles[slot->integer];
            if (slot->tag == 'r')
                value.pointer = regions[slot->integer].memory + slot->inner_offset;
            arguments[s] = value;
            if (slot->holder >= 0) {
                const int64_t at = slot->holder_offset;
                memcpy(regions[slot->holder].memory + at, &value.pointer, sizeof(void*));
                memcpy(regions[slot->holder].expected + at, &value.pointer, sizeof(void*));
            }
        }
        const char* name = names[function];
        const int32_t status = call(function, symbol(argv[1], name), arguments);
        int is_wrong = status != 0;
        for (int64_t r = 0; r < n_regions; ++r) {
            const Region* region = regions + r;
            const int64_t size = region->head.size;
            if (region->head.kind == 'h') {
                handles = realloc(handles, (size_t)(n_handles + 1) * sizeof *handles);
                memcpy(handles + n_handles++, region->memory, sizeof *handles);
            } else if (region->head.kind == 'f') {
                const double apart =
                    difference((const double*)region->memory,
                               (const double*)region->expected, size / 8, &n_unequal);
                n_reals += size / 8;
                if (!(apart <= largest)) largest = apart;
                is_wrong |= !(apart <= kTolerance);
            } else {
                is_wrong |= memcmp(region->memory, region->expected, (size_t)size) != 0;
            }
        }
        if (is_wrong) {
            ++n_wrong;
            fprintf(stderr, "call %lld, %s: status %d, another result\n",
                    (long long)number, name, (int)status);
        }
    }
    printf("%lld calls of %lld functions, %lld wrong; of %lld reals %lld differ, by at most "
           "%.2g\n",
           (long long)n_calls, (long long)n_functions, (long long)n_wrong,
           (long long)n_reals, (long long)n_unequal, largest);
    return n_wrong != 0;
}
