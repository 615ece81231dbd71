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
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "bm3d/cpu_kernels.h"
#include "bm3d/cpu_match_plan.h"
#include "bm3d/cpu_tiles.h"
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
constexpr int enough_tasks = 48, max_blocks_per_task = 4;

/// Largest score that can count: 16 bits saturate at one more.
constexpr float max_score = 65534;

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
    motion_grid_ = {guide.width, guide.height, phase.step};
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
        tasks_.push_back({{i * step, y, std::min(wide, columns - i), count}});
      if (last_x % step != 0) tasks_.push_back({{last_x, y, 1, count}});
    };
    for (int j = 0; j < rows; j += high) add_row_of_blocks(j * step, std::min(high, rows - j));
    if (last_y % step != 0) add_row_of_blocks(last_y, 1);

    displacements_.resize(static_cast<std::size_t>(phase.window) * phase.window);
    const int radius = geometry_.radius();
    for (int c = 0; c < phase.window * phase.window; ++c)
      displacements_[c] = pack_displacement(c % phase.window - radius, c / phase.window - radius);
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
    guide_ =
        prepare_guide(phase.step, geometry_.radius(), input.frames[0].guide, quantiser, pairs_);
    if (input.frames.size() > 1)
      for (std::size_t f = 0; f < input.frames.size(); ++f)
        guides_[f] = prepare_guide(1, 0, input.frames[f].guide, quantiser, frame_pairs_[f]);
  }

  /// Arranged for references `step` apart, with margins for windows of `radius`.
  PairedGuide prepare_guide(int step, int radius, PlaneView<const float> guide,
                            const Quantiser& quantiser, Buffer<std::uint16_t>& memory) {
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
    const PlaneTiles planes = clear_tile(phase.step, input, tile);
    Workspace& work = workspaces_[tbb::this_task_arena::current_thread_index()];
    const Block& all = tile.task->block;
    for (int row = 0; row < all.rows; row += block_rows_) {
      const int rows = std::min(block_rows_, all.rows - row);
      run_block(phase, input, {all.x, all.y + row * phase.step, all.columns, rows},
                {planes.data(), input.sigma.size()}, work);
    }
  }

  /// Index of a reference patch in its row or column, also off the grid.
  static int index_of(int position, int step) { return (position + step - 1) / step; }

  Motion motion_to(const PhaseFrame& frame, int x, int y, int step) const {
    if (frame.motion.empty()) return {};
    return frame.motion[motion_grid_.block(index_of(x, step), index_of(y, step))];
  }

  /// What the groups of a block can reach in a frame.
  Area reach(const Block& block, int step, const PhaseFrame& frame) const {
    const bool own = frame.offset == 0;
    const int radius = own ? geometry_.radius() : around_.radius();
    const int right = block.x + (block.columns - 1) * step,
              bottom = block.y + (block.rows - 1) * step;
    int least_x = 0, least_y = 0, most_x = 0, most_y = 0;
    if (!own && !frame.motion.empty()) {
      least_x = least_y = std::numeric_limits<int>::max();
      most_x = most_y = std::numeric_limits<int>::min();
      for (int j = index_of(block.y, step) / motion_rows; j <= index_of(bottom, step) / motion_rows;
           ++j)
        for (int i = index_of(block.x, step) / motion_columns;
             i <= index_of(right, step) / motion_columns; ++i) {
          const Motion m = frame.motion[j * motion_grid_.columns() + i];
          least_x = std::min<int>(least_x, m.x), most_x = std::max<int>(most_x, m.x);
          least_y = std::min<int>(least_y, m.y), most_y = std::max<int>(most_y, m.y);
        }
    }
    Area area{std::max(0, block.x + least_x - radius), std::max(0, block.y + least_y - radius),
              std::min(geometry_.width, right + patch + most_x + radius),
              std::min(geometry_.height, bottom + patch + most_y + radius)};
    area.right = std::max(area.left, area.right);
    area.bottom = std::max(area.top, area.bottom);
    return area;
  }

  PlaneTiles clear_tile(int step, const PhaseInput& input, Tile& tile) {
    PlaneTiles planes{};
    for (std::size_t f = 0; f < input.frames.size(); ++f) {
      const PhaseFrame& frame = input.frames[f];
      TilePart& part = tile.frames[f];
      part.area = reach(tile.task->block, step, frame);
      part.stride = round_up(part.area.width(), 16) | 16;
      const std::size_t samples = part.stride * part.area.height();
      const std::ptrdiff_t origin = part.area.top * part.stride + part.area.left;
      for (std::size_t p = 0; p < input.sigma.size(); ++p) {
        float* const numerator = part.numerator[p].reserve(samples);
        float* const weights = part.weights[p].reserve(samples);
        std::fill_n(numerator, samples, 0.0f);
        std::fill_n(weights, samples, 0.0f);
        planes[p].frame[frame.offset + max_temporal] = {frame.noisy[p].data, frame.basic[p].data,
                                                        numerator - origin, weights - origin,
                                                        part.stride};
      }
    }
    for (std::size_t p = 0; p < input.sigma.size(); ++p) {
      planes[p].wiener = input.phase == Phase::second;
      planes[p].noisy_stride = input.frames[0].noisy[p].stride;
      planes[p].basic_stride = input.frames[0].basic[p].stride;
    }
    return planes;
  }

  void run_block(const PhaseParams& phase, const PhaseInput& input, const Block& block,
                 std::span<const PlaneTile> planes, Workspace& work) {
    const bool matched = phase.group > 1 && phase.window > 1;
    const int lanes = lanes_of(block.columns, phase.step);
    const int classes = 2 * phase.group;
    Scores scores{};
    if (matched) {
      scores = {work.values.reserve(scores_size(phase, block)),
                work.minima.reserve(static_cast<std::size_t>(block.rows) * classes * lanes),
                work.sums.reserve(sums_size(block.rows, lanes)),
                work.outside.reserve(static_cast<std::size_t>(phase.window + 1) * lanes),
                lanes,
                classes};
      score_block(guide_, geometry_, block, scores);
    }
    work.rankings.assign(block.columns, {});
    const SelectParams select{phase.group, limit_, displacements_.data()};
    const SelectScratch keys{work.keys.reserve(select_scratch_size)};
    float* const stack = work.stack.reserve(filter_scratch_size);
    for (int row = 0; row < block.rows; ++row) {
      if (matched)
        rank_candidates(select, geometry_, block, phase.step, row, scores, keys, work.rankings);
      for (int column = 0; column < block.columns; ++column) {
        const int x = block.x + column * phase.step, y = block.y + row * phase.step;
        Ranking ranking = work.rankings[column];
        if (phase.group > 1)
          for (std::size_t f = 1; f < input.frames.size(); ++f)
            rank_around({phase.group, limit_, bonus_, input.frames[f].offset}, guides_[0],
                        guides_[f], around_, x, y, motion_to(input.frames[f], x, y, phase.step),
                        ranking);
        const Group group = group_of(ranking);
        for (std::size_t p = 0; p < planes.size(); ++p)
          filter_group(tables_[p], planes[p], x, y, group, stack);
      }
    }
  }

  void add_tile(Tile& tile, const PhaseInput& input) {
    for (std::size_t f = 0; f < input.frames.size(); ++f) {
      TilePart& from = tile.frames[f];
      const Area& area = from.area;
      const auto part = [&](PlaneView<float> whole) {
        return PlaneView<float>{whole.row(area.top) + area.left, area.width(), area.height(),
                                whole.stride};
      };
      for (std::size_t p = 0; p < input.sigma.size(); ++p) {
        CpuSums& sums = cpu_sums(*input.frames[f].sums[p]);
        add_rows(
            PlaneView<float>{from.numerator[p].data(), area.width(), area.height(), from.stride},
            part(sums.numerator()));
        add_rows(PlaneView<float>{from.weights[p].data(), area.width(), area.height(), from.stride},
                 part(sums.weights()));
      }
    }
  }

  void normalise(const std::array<float, patch>& window, CpuSums& sums, PlaneView<float> estimate) {
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
  MotionGrid motion_grid_;
  std::array<FilterTables, max_planes> tables_{};
  std::vector<Task> tasks_;
  int block_rows_ = 1;
  std::vector<std::uint32_t> displacements_;
  std::vector<std::array<float, 2>> ranges_;
  PairedGuide guide_;
  std::array<PairedGuide, max_frames> guides_;  // of all frames for step 1, where there are several
  std::uint16_t limit_ = 0, bonus_ = 0;         // as scores

  Buffer<std::uint16_t> pairs_;
  std::array<Buffer<std::uint16_t>, max_frames> frame_pairs_;
  Buffer<std::int8_t> bytes_;
  Buffer<float> line_;
};

}  // namespace

std::unique_ptr<PhaseEngine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace lull::bm3d
