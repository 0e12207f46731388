// What every function of the C interface shares: how it is exported, and how an
// exception inside it becomes a status and a sentence that Python raises.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>

#if defined(_WIN32)
#define BAYLEAF_API extern "C" __declspec(dllexport)
#else
#define BAYLEAF_API extern "C" __attribute__((visibility("default")))
#endif

namespace bayleaf {

// The numbers are those of bayleaf/native/library.py.
enum Status : int32_t { kDone = 0, kRefused = 1, kInterrupted = 2, kNoMemory = 3 };

// A person pressed Ctrl-C, or another thread of the same task failed.
struct Interrupted : std::exception {};

// Keeps the sentence that `bl_error` gives to the thread that asks next.
void keep_error(const char* text) noexcept;

// Whether the other threads of this thread's task have stopped; see bl_watch.
bool must_stop() noexcept;

// What a capsule of Python's holds: destructors of handles get the capsule.
void* content_of(void* capsule) noexcept;

// Runs the body of an interface function: no exception crosses the interface.
template <class Body>
int32_t guarded(Body&& body) noexcept {
    if (must_stop()) return kInterrupted;
    try {
        body();
        return kDone;
    } catch (const Interrupted&) {
        return kInterrupted;
    } catch (const std::bad_alloc&) {
        return kNoMemory;
    } catch (const std::exception& error) {
        keep_error(error.what());
        return kRefused;
    } catch (...) {
        keep_error("an unknown error in the native core");
        return kRefused;
    }
}

}  // namespace bayleaf
