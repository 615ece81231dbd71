// The cpu backend of BM4D. The threads process the tiles of reference cubes in four rounds
// (variable `colour`). The tiles of one round are so far apart that their groups never overlap, so
// the threads need no atomic operations.

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "bm4d/cpu/kernels.h"
#include "bm4d/propagation.h"
#include "bm4d/volume_engine.h"
#include "core/plane.h"
#include "match/cpu/threads.h"

namespace lull::bm4d {
namespace {

using namespace cpu;

constexpr int min_tile = 8;  // side of a tile in reference cubes

/// A ring buffer of slices. Element z % depth contains slice z.
template <class T>
class Ring {
 public:
  Ring(int depth, int width, int height) {
    for (int i = 0; i < depth; ++i) {
      planes_.emplace_back(width + row_padding, height);
      clear(i);
    }
    if (depth > 0) stride_ = planes_[0].view().stride;
    width_ = width;
  }
  std::ptrdiff_t stride() const { return stride_; }
  PlaneView<T> at(int z) {
    PlaneView<T> view = planes_[static_cast<std::size_t>(z) % planes_.size()].view();
    view.width = width_;
    return view;
  }
  void clear(int z) {
    PlaneView<T> view = planes_[static_cast<std::size_t>(z) % planes_.size()].view();
    for (int y = 0; y < view.height; ++y) std::fill_n(view.row(y), view.width, T{});
  }

 private:
  std::vector<Plane<T>> planes_;
  std::ptrdiff_t stride_ = 0;
  int width_ = 0;
};

/// The data that a phase stores for each slice.
struct PhaseMemory {
  PhaseMemory(const PhaseParams& p, int width, int height)
      : pairs(depth(p), width, height),
        faces(p.cube, width, height),
        squares(depth(p), width, height),
        numerator(depth(p), width, height),
        weights(depth(p), width, height) {}

  /// Returns the number of slices that a phase stores at the same time. `cube` is the side of a
  /// cube. The number of slices is the sum of three numbers:
  /// - 2 * radius + cube for the search windows at one z position
  /// - `step` for the next z position
  /// - `cube` for the weights of the next finished slice
  static int depth(const PhaseParams& p) { return 2 * p.radius() + 2 * p.cube + p.step; }

  Ring<std::int32_t> pairs, faces, squares;
  Ring<float> numerator, weights;
};

struct Layer {
  Phase phase;
  int z;
  SliceSpan available;
  const std::uint8_t* wanted;  // one flag per reference cube, row by row; null: all are required
};

class CpuEngine final : public VolumeEngine {
 public:
  CpuEngine(const VolumePlan& plan, int threads)
      : plan_(plan),
        threads_(threads),
        arena_(threads),
        noisy_(margin(plan.params).after + 2 * max_cube, plan.width, plan.height) {
    lull::cpu::allow_threads(threads_);
    memory_[0].emplace(plan.params.hard, plan.width, plan.height);
    tables_[0] = make_tables(plan.params, Phase::first, plan.sigma);
    if (plan.params.phases == 1) return;
    memory_[1].emplace(plan.params.wiener, plan.width, plan.height);
    tables_[1] = make_tables(plan.params, Phase::second, plan.sigma);
    if (plan.params.reranks_groups()) kept_.emplace(plan);
    basic_.emplace(PhaseMemory::depth(plan.params.wiener), plan.width, plan.height);
  }

  void begin(int z) override {
    first_ = z;
    if (kept_) kept_->begin();
  }

  void load(int z, PlaneView<const float> samples) override {
    const PlaneView<float> to = noisy_.at(z);
    for (int y = 0; y < plan_.height; ++y) std::copy_n(samples.row(y), plan_.width, to.row(y));
    prepare(Phase::first, z, noisy_.at(z));
  }

  void filter(const Layers& layers) override {
    const PhaseParams& params = plan_.phase(layers.phase);
    const int references = reference_count(plan_.width, params.step, params.cube) *
                           reference_count(plan_.height, params.step, params.cube);
    for (int k = 0; k < layers.count; ++k)
      arena_.execute([&] {
        run({layers.phase, layers.z + k * params.step, layers.available,
             layers.wanted ? layers.wanted + k * references : nullptr});
      });
  }

  void finish_basic(int z) override {
    divide(Phase::first, z, basic_->at(z));
    prepare(Phase::second, z, basic_->at(z));
  }

  void finish(int z, PlaneView<float> estimate) override {
    const Phase last = plan_.params.phases == 1 ? Phase::first : Phase::second;
    divide(last, z, estimate);
  }

 private:
  static int number(Phase phase) { return phase == Phase::first ? 0 : 1; }

  /// Prepares the guide of a slice, and clears the sums of the slice.
  void prepare(Phase phase, int z, PlaneView<const float> guide) {
    PhaseMemory& memory = *memory_[number(phase)];
    const int cube = plan_.phase(phase).cube;
    const PlaneView<std::int32_t> pairs = memory.pairs.at(z), faces = memory.faces.at(z);
    const PlaneView<float> numerator = memory.numerator.at(z), weights = memory.weights.at(z);
    each_rows([&](Rows rows) {
      make_pairs(guide, rows, pairs);
      for (int y = rows.y0; y < rows.y1; ++y) {
        std::fill_n(numerator.row(y), numerator.stride, 0.0f);
        std::fill_n(weights.row(y), weights.stride, 0.0f);
      }
    });
    each_rows([&](Rows rows) { make_faces(pairs, cube, rows, faces); });
    const int begin = z - cube + 1;
    if (begin < first_) return;
    std::array<PlaneView<const std::int32_t>, max_cube> all;
    for (int c = 0; c < cube; ++c) all[c] = memory.faces.at(begin + c);
    each_rows([&](Rows rows) {
      add_faces({all.data(), static_cast<std::size_t>(cube)}, rows, memory.squares.at(begin));
    });
  }

  /// Calls work(rows) for bands of up to 16 rows, in parallel, and waits until all bands are
  /// complete.
  template <class Work>
  void each_rows(const Work& work) {
    constexpr int rows = 16;
    arena_.execute([&] {
      tbb::parallel_for(0, (plan_.height + rows - 1) / rows, [&](int part) {
        work({part * rows, std::min((part + 1) * rows, plan_.height)});
      });
    });
  }

  void run(const Layer& layer) {
    const PhaseParams& params = plan_.phase(layer.phase);
    const FilterTables& tables = tables_[number(layer.phase)];
    const MatchSlices match = match_slices(layer, params);
    const FilterSlices filter = filter_slices(layer, match);
    const int columns = reference_count(plan_.width, params.step, params.cube);
    const int rows = reference_count(plan_.height, params.step, params.cube);
    const bool keeps = kept_ && layer.phase == Phase::first;
    const std::span<KeptList> kept = keeps ? kept_->add_layer(layer.z) : std::span<KeptList>();
    // Side of a tile in reference cubes. A tile is at least as wide as two search radii plus a cube
    // (4 voxels). Therefore, the groups of two tiles that threads process in the same round
    // (variable `colour`) never overlap.
    const int reach = (2 * params.radius() + 4 + params.step - 1) / params.step;
    const int side = std::max(min_tile, reach);
    const int wide = (columns + side - 1) / side, high = (rows + side - 1) / side;
    for (int colour = 0; colour < 4; ++colour) {
      const int first_i = colour % 2, first_j = colour / 2;
      const int across = (wide - first_i + 1) / 2, down = (high - first_j + 1) / 2;
      tbb::parallel_for(0, across * down, [&](int tile) {
        const int i0 = (2 * (tile % across) + first_i) * side;
        const int j0 = (2 * (tile / across) + first_j) * side;
        Group group;
        for (int j = j0; j < std::min(j0 + side, rows); ++j)
          for (int i = i0; i < std::min(i0 + side, columns); ++i) {
            if (layer.wanted && !layer.wanted[j * columns + i]) continue;
            const int x = reference_position(i, plan_.width, params.step, params.cube);
            const int y = reference_position(j, plan_.height, params.step, params.cube);
            if (kept_ && layer.phase == Phase::second) {
              std::array<std::uint32_t, max_listed> room;
              rank_group(match, params, x, y,
                         kept_->candidates(x, y, layer.z, layer.available, room), group);
            } else {
              find_group(match, params, x, y, group);
            }
            if (keeps) kept[j * columns + i] = kept_list(group);
            filter_group(tables, filter, x, y, group);
          }
      });
    }
  }

  MatchSlices match_slices(const Layer& layer, const PhaseParams& params) {
    PhaseMemory& memory = *memory_[number(layer.phase)];
    const int base = layer.z - params.radius(), near = params.window + params.cube - 1;
    MatchSlices slices{.stride = memory.pairs.stride(),
                       .width = plan_.width,
                       .height = plan_.height,
                       .first = std::max(0, layer.available.first - base),
                       .end = std::min(near, layer.available.end - base)};
    for (int k = slices.first; k < slices.end; ++k) {
      slices.pairs[k] = memory.pairs.at(base + k).data;
      slices.squares[k] = memory.squares.at(base + k).data;
    }
    return slices;
  }

  FilterSlices filter_slices(const Layer& layer, const MatchSlices& match) {
    PhaseMemory& memory = *memory_[number(layer.phase)];
    const int base = layer.z - plan_.phase(layer.phase).radius();
    FilterSlices slices{.stride = noisy_.stride()};
    for (int k = match.first; k < match.end; ++k) {
      slices.noisy[k] = noisy_.at(base + k).data;
      if (layer.phase == Phase::second) slices.basic[k] = basic_->at(base + k).data;
      slices.numerator[k] = memory.numerator.at(base + k).data;
      slices.weights[k] = memory.weights.at(base + k).data;
    }
    return slices;
  }

  void divide(Phase phase, int z, PlaneView<float> estimate) {
    PhaseMemory& memory = *memory_[number(phase)];
    const FilterTables& tables = tables_[number(phase)];
    FinishSlice slice{.numerator = memory.numerator.at(z),
                      .noisy = noisy_.at(z),
                      .weights = {},
                      .stride = memory.weights.stride(),
                      .cube = tables.cube,
                      .axis = tables.axis};
    for (int c = 0; c < std::min(tables.cube, z - first_ + 1); ++c)
      slice.weights[c] = memory.weights.at(z - c).data;
    estimate.width = plan_.width;
    each_rows([&](Rows rows) { finish_rows(slice, rows, estimate); });
  }

  VolumePlan plan_;
  int threads_;
  tbb::task_arena arena_;
  int first_ = 0;  // first slice of the volume
  Ring<float> noisy_;
  std::optional<Ring<float>> basic_;
  std::optional<KeptGroups> kept_;  // empty if the second phase searches
  std::array<std::optional<PhaseMemory>, 2> memory_;
  std::array<FilterTables, 2> tables_;
};

}  // namespace

std::unique_ptr<VolumeEngine> make_cpu_engine(const VolumePlan& plan, int threads) {
  if (threads <= 0) threads = tbb::this_task_arena::max_concurrency();
  return std::make_unique<CpuEngine>(plan, threads);
}

}  // namespace lull::bm4d
