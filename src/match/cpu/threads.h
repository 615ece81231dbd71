#pragma once
// Thread limits of the host backends, and a parallel loop that adds its results in a fixed order.

#include <tbb/parallel_pipeline.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace lull::cpu {

/// Raises the limit for the number of oneTBB threads in the process to `threads`, or keeps a higher
/// limit. The default limit is one thread per core. If other code in the process sets a lower
/// limit, the lower limit applies.
void allow_threads(int threads);

/// Runs the tasks 0 .. count - 1. Each task has a tile, which is reusable memory for its result.
/// The threads of the arena call work(task, tile) for several tasks at the same time. The threads
/// call add(task, tile) for one task at a time, in ascending order.
template <class Tile, class Work, class Add>
void run_in_order(std::size_t count, std::vector<Tile>& tiles, const Work& work, const Add& add) {
  using Item = std::pair<std::size_t, Tile*>;
  std::size_t next = 0;
  const auto make = [&](tbb::flow_control& control) -> Item {
    if (next == count) {
      control.stop();
      return {};
    }
    // Task n uses the tile of task n - tiles.size(). That task has ended when task n begins,
    // because at most tiles.size() tasks are in progress, and tasks end in ascending order.
    Tile* const tile = &tiles[next % tiles.size()];
    return {next++, tile};
  };
  const auto process = [&](Item item) {
    work(item.first, *item.second);
    return item;
  };
  const auto finish = [&](Item item) { add(item.first, *item.second); };
  using tbb::filter_mode;
  tbb::parallel_pipeline(tiles.size(),
                         tbb::make_filter<void, Item>(filter_mode::serial_in_order, make) &
                             tbb::make_filter<Item, Item>(filter_mode::parallel, process) &
                             tbb::make_filter<Item, void>(filter_mode::serial_in_order, finish));
}

}  // namespace lull::cpu
