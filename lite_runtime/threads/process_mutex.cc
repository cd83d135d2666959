#include "threads/process_mutex.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace mslite {
namespace {
constexpr int kCount = static_cast<int>(LockId::kCount);
std::mutex mutexes[kCount];

#if defined(__unix__) || defined(__APPLE__)
void TakeAll() {
  for (std::mutex &mutex : mutexes) mutex.lock();
}

void ReleaseAll() {
  for (int i = kCount; i-- > 0;) mutexes[i].unlock();
}

[[maybe_unused]] const int kHandlersAreSet = pthread_atfork(TakeAll, ReleaseAll, ReleaseAll);
#endif
}  // namespace

std::mutex &ProcessMutex(LockId guarded) { return mutexes[static_cast<int>(guarded)]; }
}  // namespace mslite
