#include "support/watch.h"

#include <atomic>
#include <chrono>

#include "support/interface.h"

namespace bayleaf {
namespace {

// Functions of Python's stable interface, whose addresses Python hands over: the core is
// built without Python's headers, and serves every version.
struct Python {
    int (*take_lock)() = nullptr;
    void (*release_lock)(int) = nullptr;
    int (*check_signals)() = nullptr;
    void (*take_error)(void**, void**, void**) = nullptr;
    void* (*capsule_content)(void*, const char*) = nullptr;
};
Python python;

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
thread_local Clock::time_point last_look{};

// A flag that a task's threads share; see bl_watch.
thread_local int32_t* stop_flag = nullptr;

// What the handler raised, until Python asks for it.
thread_local void* raised[3] = {nullptr, nullptr, nullptr};

bool signal_raised() {
    if (python.check_signals == nullptr) return false;
    const int state = python.take_lock();
    const bool is_raised = python.check_signals() != 0;
    // The error must not stand while ctypes returns: it would take it for its own.
    if (is_raised) python.take_error(&raised[0], &raised[1], &raised[2]);
    python.release_lock(state);
    return is_raised;
}

}  // namespace

void* content_of(void* capsule) noexcept {
    return python.capsule_content(capsule, nullptr);
}

bool must_stop() noexcept {
    if (stop_flag == nullptr) return false;
#if defined(__cpp_lib_atomic_ref)
    return std::atomic_ref<int32_t>(*stop_flag).load(std::memory_order_relaxed) != 0;
#else
    // libc++ before version 19, that of Xcode before 16.3.
    return __atomic_load_n(stop_flag, __ATOMIC_RELAXED) != 0;
#endif
}

void Watch::look() {
    left_ = kStepsBetweenLooks;
    if (must_stop()) throw Interrupted();
    // Python handles signals in its main thread alone, and that is no helper.
    if (stop_flag != nullptr) return;
    const auto now = Clock::now();
    if (now - last_look < kBetweenLooks) return;
    last_look = now;
    if (signal_raised()) throw Interrupted();
}

}  // namespace bayleaf

// Hands over the addresses of PyGILState_Ensure, PyGILState_Release, PyErr_CheckSignals,
// PyErr_Fetch and PyCapsule_GetPointer.
BAYLEAF_API void bl_connect(void* take_lock, void* release_lock, void* check_signals,
                            void* take_error, void* capsule_content) {
    bayleaf::python = {reinterpret_cast<int (*)()>(take_lock),
                       reinterpret_cast<void (*)(int)>(release_lock),
                       reinterpret_cast<int (*)()>(check_signals),
                       reinterpret_cast<void (*)(void**, void**, void**)>(take_error),
                       reinterpret_cast<void* (*)(void*, const char*)>(capsule_content)};
}

// Gives what the signal's handler raised in this thread, as PyErr_Restore takes it; all
// null where another thread stopped the task.
BAYLEAF_API void bl_take_raised(void** error) {
    for (int i = 0; i < 3; ++i) {
        error[i] = bayleaf::raised[i];
        bayleaf::raised[i] = nullptr;
    }
}

// Makes this thread stop soon after `flag` becomes other than zero; null: no more.
BAYLEAF_API void bl_watch(int32_t* flag) {
    bayleaf::stop_flag = flag;
}
