#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "match/cpu/threads.h"
#include "nlm/cpu/kernels.h"

namespace lull::nlm::cpu {

struct TileExecutor::Arena {
  explicit Arena(int threads) : arena(threads) {}
  tbb::task_arena arena;
  tbb::enumerable_thread_specific<TileMemory> memories;
};

TileExecutor::TileExecutor(int threads)
    : arena_(std::make_unique<Arena>(threads > 0 ? threads
                                                 : tbb::this_task_arena::max_concurrency())) {
  lull::cpu::allow_threads(arena_->arena.max_concurrency());
}
TileExecutor::~TileExecutor() = default;

void TileExecutor::run(int width, int height, int tile_width, int tile_height,
                       const std::function<void(Tile, TileMemory&)>& work) {
  const int columns = (width + tile_width - 1) / tile_width;
  const int rows = (height + tile_height - 1) / tile_height;
  arena_->arena.execute([&] {
    tbb::parallel_for(0, columns * rows, [&](int at) {
      Tile tile{.x = at % columns * tile_width, .y = at / columns * tile_height};
      tile.width = std::min(tile_width, width - tile.x);
      tile.height = std::min(tile_height, height - tile.y);
      work(tile, arena_->memories.local());
    });
  });
}

}  // namespace lull::nlm::cpu
