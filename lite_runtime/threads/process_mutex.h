#ifndef MSLITE_THREADS_PROCESS_MUTEX_H_
#define MSLITE_THREADS_PROCESS_MUTEX_H_

#include <mutex>

namespace mslite {
// Identifiers of the process-wide mutexes, in the order in which a thread may lock several of them.
enum class LockId : int { kPlugins, kGroups, kModels, kRegistry, kCores, kCount };

// Returns a process-wide mutex. fork() waits until these mutexes are free, so that the child finds consistent state.
std::mutex &ProcessMutex(LockId guarded);
}  // namespace mslite

#endif  // MSLITE_THREADS_PROCESS_MUTEX_H_
