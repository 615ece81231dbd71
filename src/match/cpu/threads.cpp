#include "match/cpu/threads.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <memory>
#include <mutex>

namespace lull::cpu {

void allow_threads(int threads) {
  static std::mutex mutex;
  static std::unique_ptr<tbb::global_control> limit;
  static int allowed = tbb::this_task_arena::max_concurrency();
  const std::lock_guard lock(mutex);
  if (threads <= allowed) return;
  limit.reset();
  limit =
      std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, threads);
  allowed = threads;
}

}  // namespace lull::cpu
