#ifndef MSLITE_THREADS_PROCESS_MUTEX_H_
#define MSLITE_THREADS_PROCESS_MUTEX_H_

#include <mutex>

namespace mslite {
// What the mutexes of the whole process guard, in the order in which one thread may take several.
enum class Guarded : int { kPlugins, kGroups, kModels, kRegistry, kCores, kCount };

// fork() waits until nobody holds such a mutex, so the child finds it free and what it guards whole.
std::mutex &ProcessMutex(Guarded guarded);
}  // namespace mslite

#endif  // MSLITE_THREADS_PROCESS_MUTEX_H_
