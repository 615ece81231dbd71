// The cpu backend: cuts the picture into blocks of reference patches and runs the stages on them.
//
// Blocks go through matching, selection and filtering in tasks, each of which adds estimates to a
// tile of its own; the tiles are added to the picture in the order of the blocks, each as soon
// as its predecessors are in (a pipeline whose last stage is serial). So nothing depends on the
// number of threads, no sum needs atomics, and memory is bounded by a few tiles a thread. Blocks
// are planned per phase; all memory is kept from one picture to the next.

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "bm3d/cpu_kernels.h"
#include "bm3d/cpu_match_plan.h"
#include "bm3d/kaiser.h"
#include "bm3d/phase_engine.h"

namespace lull::bm3d {
namespace {

using namespace cpu;

// What a block may take of a core's caches: the scores of the second level and its share of the
// third, the samples that one displacement compares of the first.
constexpr std::size_t scores_budget = 1 << 20;
constexpr int samples_budget = 28 << 10;
constexpr int max_block_rows = 8;
constexpr int max_planes = 3, max_frames = 2 * max_temporal + 1;
constexpr int enough_tasks = 48, max_blocks_per_task = 4;

/// Largest score that can count: 16 bits saturate at one more.
constexpr float max_score = 65534;

/// Blocks one below the other, as one large one, and the part of the picture that their groups can
/// reach.
struct Task {
  Block block;
  int left, top, width, height;
};

/// Ranges of equal length, as far as possible, that cut `count` references of a row so that the
/// vectors over them are filled best.
int columns_per_block(int count, int step) {
  const int most = max_lanes - extra_lanes(step);
  int best = std::min(count, most), best_cost = 1 << 30;
  for (int blocks = (count + most - 1) / most; blocks <= count; ++blocks) {
    const int columns = (count + blocks - 1) / blocks;
    const int cost = blocks * lanes_of(columns, step);
    if (cost < best_cost) best = columns, best_cost = cost;
    if (columns < lane_multiple / 2) break;
  }
  return best;
}

/// Of the frame of the references; others' scores take the place of these, one after the other.
std::size_t scores_size(const PhaseParams& phase, const Block& block) {
  return static_cast<std::size_t>(block.rows) * phase.window * phase.window *
         lanes_of(block.columns, phase.step);
}

int rows_per_block(const PhaseParams& phase, int columns) {
  const std::size_t row_scores = scores_size(phase, {0, 0, columns, 1}) * sizeof(std::uint16_t);
  const int by_scores = static_cast<int>(scores_budget / row_scores);
  const int sample_row = 2 * plan_for(phase.step).phases * lanes_of(columns, phase.step) * 2;
  const int by_samples = (samples_budget / sample_row - patch) / phase.step + 1;
  return std::clamp(std::min(by_scores, by_samples), 1, max_block_rows);
}

/// What a thread needs while it works on a block.
struct Workspace {
  Buffer<std::uint16_t> values, minima, sums, outside;
  Buffer<std::uint32_t> keys;
  Buffer<float> stack;
  std::vector<Ranking> rankings;
};

/// Estimates of one block on their way to the picture.
struct Tile {
  const Task* task = nullptr;
  std::array<std::array<Buffer<float>, max_frames>, max_planes> numerator, weights;
  std::ptrdiff_t stride = 0;
};

/// A plane's sums. Groups leave their weight at the origins of patches only (cpu_aggregate.cpp).
class CpuSums : public PhaseSums {
 public:
  CpuSums(int width, int height)
      : width_(width),
        height_(height),
        // An odd number of cache lines a row: rows of a patch must not fall into the same set.
        stride_(round_up(width, 16) | 16) {
    numerator_.reserve(stride_ * height);
    std::fill_n(weights_.reserve(stride_ * (height + patch)), stride_ * (height + patch), 0.0f);
    for (int y = 0; y < height; ++y) clear_row(y);
  }

  PlaneView<float> numerator() { return {numerator_.data(), width_, height_, stride_}; }
  /// Has `patch` rows of zeros above.
  PlaneView<float> weights() {
    return {weights_.data() + patch * stride_, width_, height_, stride_};
  }
  void clear_row(int y) {
    std::fill_n(numerator().row(y), stride_, 0.0f);
    std::fill_n(weights().row(y), stride_, 0.0f);
  }

 private:
  int width_, height_;
  std::ptrdiff_t stride_;
  Buffer<float> numerator_, weights_;
};

CpuSums& cpu_sums(PhaseSums& sums) { return static_cast<CpuSums&>(sums); }

/// oneTBB starts no more threads than there are cores, unless this is said; the least of all limits
/// counts, so that there must be one for the whole process.
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

class CpuEngine : public PhaseEngine {
 public:
  explicit CpuEngine(int threads)
      : threads_(threads > 0 ? threads : tbb::this_task_arena::max_concurrency()),
        arena_(threads_),
        workspaces_(threads_),
        tiles_(threads_ == 1 ? 1 : 2 * threads_) {
    allow_threads(threads_);
  }

  std::unique_ptr<PhaseSums> make_sums(int width, int height) override {
    return std::make_unique<CpuSums>(width, height);
  }

  void run(const Params& params, const PhaseInput& input) override {
    arena_.execute([&] { run_phase(params, input); });
  }

  void finish(const PhaseParams& phase, PhaseSums& sums, PlaneView<float> estimate) override {
    arena_.execute([&] { normalise(kaiser_window(phase.kaiser), cpu_sums(sums), estimate); });
  }

 private:
  void run_phase(const Params& params, const PhaseInput& input) {
    const bool first = input.phase == Phase::first;
    const PhaseParams& phase = first ? params.hard : params.wiener;
    for (std::size_t p = 0; p < input.sigma.size(); ++p) {
      const float sigma = input.sigma[p];
      tables_[p] = first ? make_hard_tables(phase, params.lambda * sigma, params.lambda_mean)
                         : make_wiener_tables(phase, params.mu2 * sigma * sigma);
    }
    const PlaneView<const float> guide = input.frames[0].guide;
    geometry_ = {guide.width, guide.height, phase.window};
    around_ = {guide.width, guide.height, phase.temporal_window};
    reach_ = geometry_.radius();
    if (input.frames.size() > 1) reach_ = std::max(reach_, around_.radius());
    plan(phase);
    prepare_guides(phase, input);
    filter(phase, input);
  }

  /// Rows of blocks from top to bottom. References in the last row and column that are off the grid
  /// have blocks of their own.
  void plan(const PhaseParams& phase) {
    const int step = phase.step, last_x = geometry_.width - patch;
    const int last_y = geometry_.height - patch;
    const int columns = last_x / step + 1, rows = last_y / step + 1;
    const int wide = columns_per_block(columns, step);
    block_rows_ = rows_per_block(phase, wide);
    // Several blocks to a task, as long as there are plenty of tasks: their tiles overlap less.
    const int blocks = (rows + block_rows_ - 1) / block_rows_ * ((columns + wide - 1) / wide);
    const int high = block_rows_ * std::clamp(blocks / enough_tasks, 1, max_blocks_per_task);
    tasks_.clear();
    const auto add_row_of_blocks = [&](int y, int count) {
      for (int i = 0; i < columns; i += wide)
        add_task({i * step, y, std::min(wide, columns - i), count}, step);
      if (last_x % step != 0) add_task({last_x, y, 1, count}, step);
    };
    for (int j = 0; j < rows; j += high) add_row_of_blocks(j * step, std::min(high, rows - j));
    if (last_y % step != 0) add_row_of_blocks(last_y, 1);

    list_displacements(phase.window, displacements_);
    list_displacements(phase.temporal_window, displacements_around_);
  }

  static void list_displacements(int window, std::vector<std::uint32_t>& list) {
    list.resize(static_cast<std::size_t>(window) * window);
    for (int c = 0; c < window * window; ++c)
      list[c] = pack_displacement(c % window - window / 2, c / window - window / 2) & 0xffffffu;
  }

  void add_task(const Block& block, int step) {
    const int radius = reach_;
    const int left = std::max(0, block.x - radius), top = std::max(0, block.y - radius);
    const int right =
        std::min(geometry_.width, block.x + (block.columns - 1) * step + patch + radius);
    const int bottom =
        std::min(geometry_.height, block.y + (block.rows - 1) * step + patch + radius);
    tasks_.push_back({block, left, top, right - left, bottom - top});
  }

  /// The unit of the guides' bytes: samples must be within the range of a byte and, as far as noise
  /// from rounding stays below a hundredth of the picture's own (unit^2 / 12 against sigma^2), tau
  /// within the range of a score. Where it is not, patches beyond the largest score are too far.
  Quantiser choose_quantiser(const PhaseParams& phase, const PhaseInput& input) {
    float low = input.frames[0].guide(0, 0), high = low;
    for (const PhaseFrame& frame : input.frames) {
      ranges_.resize(frame.guide.height);
      tbb::parallel_for(0, frame.guide.height, [&](int y) {
        ranges_[y] = row_range({frame.guide.row(y), static_cast<std::size_t>(frame.guide.width)});
      });
      for (const auto& [l, h] : ranges_) low = std::min(low, l), high = std::max(high, h);
    }
    const float farthest = phase.tau + (input.frames.size() > 1 ? phase.place_bonus : 0.0f);
    const float complete = std::sqrt(farthest * (patch * patch) / max_score);
    // Of the basic estimate at most: its noise is not known, a quarter is typical.
    const float noise = input.guide_sigma > 0
                            ? input.guide_sigma
                            : *std::max_element(input.sigma.begin(), input.sigma.end()) / 4;
    const float unit = std::max({(high - low) / 254, std::min(complete, noise / 3), 1e-6f});
    return {(low + high) / 2, unit};
  }

  void prepare_guides(const PhaseParams& phase, const PhaseInput& input) {
    const Quantiser quantiser = choose_quantiser(phase, input);
    const float scores = patch * patch / (quantiser.unit * quantiser.unit);  // of a distance of 1
    limit_ = static_cast<std::uint16_t>(std::min(max_score, phase.tau * scores));
    bonus_ = static_cast<std::uint16_t>(std::min(max_score, phase.place_bonus * scores + 0.5f));
    for (std::size_t f = 0; f < input.frames.size(); ++f)
      guides_[f] = prepare_guide(phase.step, input.frames[f].guide, quantiser, pairs_[f]);
  }

  PairedGuide prepare_guide(int step, PlaneView<const float> guide, const Quantiser& quantiser,
                            Buffer<std::uint16_t>& memory) {
    const int radius = reach_;
    const int before = (radius + step - 1) / step + 1;
    const int columns = (geometry_.width - patch) / step + 1;
    const int elements = before + columns + max_lanes + (radius + patch) / step + 2;
    const int rows = geometry_.height + 2 * radius + 2 * patch;
    const std::ptrdiff_t phase_stride = round_up(elements, 32) + 32;
    const std::ptrdiff_t row_stride = (phase_stride * step / 32 | 1) * 32;  // see CpuSums
    const std::size_t bytes = round_up(static_cast<std::size_t>(elements) * step + 1, 64);
    std::uint16_t* const pairs = memory.reserve(row_stride * rows);
    std::int8_t* const scratch = bytes_.reserve(bytes * threads_);
    tbb::parallel_for(tbb::blocked_range<int>(0, rows, 8), [&](const auto& range) {
      const int thread = tbb::this_task_arena::current_thread_index();
      for (int i = range.begin(); i < range.end(); ++i) {
        const int y = std::clamp(i - radius, 0, geometry_.height - 1);
        pair_row({guide.row(y), static_cast<std::size_t>(geometry_.width)}, quantiser,
                 {pairs + i * row_stride, phase_stride, -before, elements, step,
                  scratch + thread * bytes});
      }
    });
    return {pairs + radius * row_stride + before, row_stride, phase_stride, step};
  }

  void filter(const PhaseParams& phase, const PhaseInput& input) {
    std::size_t next = 0;
    const auto make = [&](tbb::flow_control& control) -> Tile* {
      if (next == tasks_.size()) {
        control.stop();
        return nullptr;
      }
      // Tiles come back in order and no more are out than there are: this one is free.
      Tile& tile = tiles_[next % tiles_.size()];
      tile.task = &tasks_[next++];
      return &tile;
    };
    const auto work = [&](Tile* tile) {
      run_task(phase, input, *tile);
      return tile;
    };
    const auto add = [&](Tile* tile) { add_tile(*tile, input); };
    using tbb::filter_mode;
    tbb::parallel_pipeline(tiles_.size(),
                           tbb::make_filter<void, Tile*>(filter_mode::serial_in_order, make) &
                               tbb::make_filter<Tile*, Tile*>(filter_mode::parallel, work) &
                               tbb::make_filter<Tile*, void>(filter_mode::serial_in_order, add));
  }

  using PlaneTiles = std::array<PlaneTile, max_planes>;

  /// Block by block from top to bottom.
  void run_task(const PhaseParams& phase, const PhaseInput& input, Tile& tile) {
    const PlaneTiles planes = clear_tile(input, tile);
    Workspace& work = workspaces_[tbb::this_task_arena::current_thread_index()];
    const Block& all = tile.task->block;
    for (int row = 0; row < all.rows; row += block_rows_) {
      const int rows = std::min(block_rows_, all.rows - row);
      run_block(phase, input, {all.x, all.y + row * phase.step, all.columns, rows},
                {planes.data(), input.sigma.size()}, work);
    }
  }

  PlaneTiles clear_tile(const PhaseInput& input, Tile& tile) {
    const Task& task = *tile.task;
    tile.stride = round_up(task.width, 16) | 16;
    const std::size_t samples = tile.stride * task.height;
    const std::ptrdiff_t origin = task.top * tile.stride + task.left;
    PlaneTiles planes{};
    for (std::size_t p = 0; p < input.sigma.size(); ++p) {
      const PhaseFrame& own = input.frames[0];
      planes[p].wiener = input.phase == Phase::second;
      planes[p].noisy_stride = own.noisy[p].stride;
      planes[p].basic_stride = own.basic[p].stride;
      planes[p].stride = tile.stride;
      for (std::size_t f = 0; f < input.frames.size(); ++f) {
        const PhaseFrame& frame = input.frames[f];
        float* const numerator = tile.numerator[p][f].reserve(samples);
        float* const weights = tile.weights[p][f].reserve(samples);
        std::fill_n(numerator, samples, 0.0f);
        std::fill_n(weights, samples, 0.0f);
        planes[p].frame[frame.offset + max_temporal] = {
            frame.noisy[p].data, frame.basic[p].data, numerator - origin, weights - origin};
      }
    }
    return planes;
  }

  void run_block(const PhaseParams& phase, const PhaseInput& input, const Block& block,
                 std::span<const PlaneTile> planes, Workspace& work) {
    work.rankings.resize(static_cast<std::size_t>(block.columns) * block.rows);
    for (Ranking& ranking : work.rankings) ranking.count = 0;
    if (phase.group > 1)
      for (std::size_t f = 0; f < input.frames.size(); ++f)
        match(phase, f, input.frames[f].offset, block, work);
    float* const stack = work.stack.reserve(filter_scratch_size);
    for (int row = 0; row < block.rows; ++row)
      for (int column = 0; column < block.columns; ++column) {
        const Group group = group_of(work.rankings[row * block.columns + column]);
        for (std::size_t p = 0; p < planes.size(); ++p)
          filter_group(tables_[p], planes[p], block.x + column * phase.step,
                       block.y + row * phase.step, group, stack);
      }
  }

  /// Ranks the candidates of one frame.
  void match(const PhaseParams& phase, std::size_t frame, int offset, const Block& block,
             Workspace& work) {
    const bool own = frame == 0;
    const MatchGeometry& geometry = own ? geometry_ : around_;
    if (own && geometry.window == 1) return;
    const int lanes = lanes_of(block.columns, phase.step), classes = 2 * phase.group;
    const std::size_t candidates = static_cast<std::size_t>(geometry.window) * geometry.window;
    const Scores scores{
        work.values.reserve(block.rows * candidates * lanes),
        own ? work.minima.reserve(static_cast<std::size_t>(block.rows) * classes * lanes) : nullptr,
        work.sums.reserve(sums_size(block.rows, lanes)),
        work.outside.reserve(static_cast<std::size_t>(geometry.window + 1) * lanes),
        lanes,
        classes};
    score_block(guides_[0], {guides_[frame], own, own ? std::uint16_t{0} : bonus_}, geometry, block,
                scores);
    const SelectParams select{phase.group, limit_,
                              (own ? displacements_ : displacements_around_).data(), offset};
    const SelectScratch keys{work.keys.reserve(select_scratch_size)};
    for (int row = 0; row < block.rows; ++row)
      rank_candidates(select, geometry, block, phase.step, row, scores, keys,
                      std::span(work.rankings).subspan(row * block.columns, block.columns));
  }

  void add_tile(Tile& tile, const PhaseInput& input) {
    const Task& t = *tile.task;
    const auto part = [&](PlaneView<float> whole) {
      return PlaneView<float>{whole.row(t.top) + t.left, t.width, t.height, whole.stride};
    };
    for (std::size_t p = 0; p < input.sigma.size(); ++p)
      for (std::size_t f = 0; f < input.frames.size(); ++f) {
        CpuSums& sums = cpu_sums(*input.frames[f].sums[p]);
        add_rows(
            PlaneView<float>{tile.numerator[p][f].data(), t.width, t.height, tile.stride},
            part(sums.numerator()));
        add_rows(PlaneView<float>{tile.weights[p][f].data(), t.width, t.height, tile.stride},
                 part(sums.weights()));
      }
  }

  void normalise(const std::array<float, patch>& window, CpuSums& sums,
                 PlaneView<float> estimate) {
    const std::size_t scratch_size = round_up(estimate.width, 16) + 80;
    float* const scratch = line_.reserve(scratch_size * threads_);
    const Normalisation normalisation{sums.numerator(), sums.weights(), window, estimate};
    tbb::parallel_for(tbb::blocked_range<int>(0, estimate.height, 16), [&](const auto& rows) {
      const int thread = tbb::this_task_arena::current_thread_index();
      normalise_rows(normalisation, rows.begin(), rows.end(), scratch + thread * scratch_size);
    });
    tbb::parallel_for(0, estimate.height, [&](int y) { sums.clear_row(y); });
  }

  int threads_;
  tbb::task_arena arena_;
  std::vector<Workspace> workspaces_;  // one for each thread
  std::vector<Tile> tiles_;

  // Of the phase that runs.
  MatchGeometry geometry_{}, around_{};  // windows in the frame of the references, in others
  int reach_ = 0;                        // radius of the larger one
  std::array<FilterTables, max_planes> tables_{};
  std::vector<Task> tasks_;
  int block_rows_ = 1;
  std::vector<std::uint32_t> displacements_, displacements_around_;
  std::vector<std::array<float, 2>> ranges_;
  std::array<PairedGuide, max_frames> guides_;
  std::uint16_t limit_ = 0, bonus_ = 0;  // as scores

  std::array<Buffer<std::uint16_t>, max_frames> pairs_;
  Buffer<std::int8_t> bytes_;
  Buffer<float> line_;
};

}  // namespace

std::unique_ptr<PhaseEngine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace lull::bm3d
