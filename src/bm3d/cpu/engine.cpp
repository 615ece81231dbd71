// The `cpu` backend: divides the picture into blocks of reference patches and runs the stages on
// them.

// Tasks process blocks in parallel, each into its own tile. The engine adds the tiles in a fixed
// order, so results do not depend on the number of threads.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "bm3d/cpu/kernels.h"
#include "bm3d/cpu/load_part.h"
#include "bm3d/cpu/tiles.h"
#include "bm3d/phase_engine.h"
#include "match/cpu/matcher.h"
#include "match/cpu/threads.h"
#include "match/motion_grid.h"

namespace lull::bm3d {
namespace {

using namespace cpu;

constexpr int enough_tasks = 48, max_blocks_per_task = 4;

/// Memory and matchers that an engine retains between phases.
struct Memory {
  // The matchers for the three sources of groups: search, propagation and stored groups.
  std::unique_ptr<Matcher> matcher, propagator, reusing;
  std::vector<Workspace> workspaces;  // one element for each thread
  std::vector<Tile> tiles;
  /// The covariance tables (FilterTables) of the two phases, one for each plane.
  std::array<std::array<std::shared_ptr<const CovarianceTable>, max_planes>, 2> covariances;
};

/// Runs one phase, or only its search, on the reference patches of one frame.
class PhaseRun {
 public:
  PhaseRun(const PhaseInput& input, Memory& memory, Matcher& matcher, const MatchParams& matching)
      : input_(input),
        params_(input.plan.params),
        memory_(memory),
        matcher_(matcher),
        matching_(matching),
        width_(input.frames[0].frame.guide.samples.width),
        height_(input.frames[0].frame.guide.samples.height),
        motion_grid_{width_, height_, matching.step} {}

  void run() {
    make_tables();
    begin_matching();
    plan_tasks();
    if (input_.keeps()) reserve_kept();
    filter();
  }

  void search() {
    begin_matching();
    plan_tasks();
    reserve_kept();
    tbb::parallel_for(std::size_t{0}, tasks_.size(), [&](std::size_t t) {
      for_blocks(tasks_[t].block, [&](const Block& block) {
        for_groups(block, [&](int row, std::span<Group> groups) { keep(block, row, groups); });
      });
    });
  }

 private:
  void make_tables() {
    const PhasePlan& plan = input_.plan;
    if (plan.filter == Filtering::means) return make_means_tables();
    const bool first = plan.phase == Phase::first;
    const float strength = plan.strength.value;
    for (std::size_t p = 0; p < input_.planes(); ++p) {
      auto& covariances = memory_.covariances[first ? 0 : 1][input_.set.planes[p]];
      tables_[p] = first ? make_hard_tables(params_, input_.noise(p), strength,
                                            plan.strength.mean_factor, covariances)
                         : make_wiener_tables(params_, input_.noise(p), strength, covariances);
      covariances = tables_[p].covariances;
    }
  }

  void make_means_tables() {
    means_.curve = MeansCurve(input_.plan.means);
    for (std::size_t p = 0; p < input_.planes(); ++p)
      means_.scale[p] = means_scale(input_.noise(p).sigma, input_.planes());
    const auto& window = input_.plan.window;
    for (int i = 0; i < patch * patch; ++i)
      means_.window[i] = window[i / patch] * window[i % patch];
  }

  void begin_matching() {
    for (const PhaseFrame& frame : input_.frames)
      guides_.push_back({frame.offset, frame.frame.guide});
    float max_sigma = 0;
    for (std::size_t p = 0; p < input_.planes(); ++p)
      max_sigma = std::max(max_sigma, input_.noise(p).sigma);
    // The noise level of a basic estimate is unknown; a quarter of sigma is typical.
    const float noise = input_.guide_sigma > 0 ? input_.guide_sigma : max_sigma / 4;
    matcher_.begin({matching_, guides_, noise, input_.groups});
  }

  void reserve_kept() {
    input_.groups->reserve({width_, height_, matching_.step}, matching_.group);
  }

  /// Divides the reference patches into tasks, from top to bottom. If the last position along an
  /// axis is not a multiple of the step, separate tasks process the reference patches at this
  /// position.
  void plan_tasks() {
    const int step = matching_.step, last_x = width_ - patch, last_y = height_ - patch;
    const int columns = last_x / step + 1, rows = last_y / step + 1;
    block_ = matcher_.block_size(matching_, columns);
    const int wide = block_.columns;
    // A task consists of one or more blocks. The more blocks a task has, the fewer tiles overlap,
    // which saves additions. However, there must be enough tasks for all threads.
    const int blocks = (rows + block_.rows - 1) / block_.rows * ((columns + wide - 1) / wide);
    const int high = block_.rows * std::clamp(blocks / enough_tasks, 1, max_blocks_per_task);
    const auto add_row_of_blocks = [&](int y, int count) {
      for (int i = 0; i < columns; i += wide)
        tasks_.push_back({{i * step, y, std::min(wide, columns - i), count}});
      if (last_x % step != 0) tasks_.push_back({{last_x, y, 1, count}});
    };
    for (int j = 0; j < rows; j += high) add_row_of_blocks(j * step, std::min(high, rows - j));
    if (last_y % step != 0) add_row_of_blocks(last_y, 1);
  }

  void filter() {
    run_in_order(
        tasks_, memory_.tiles, [&](Tile& tile) { run_task(tile); },
        [&](Tile& tile) { add_tile(tile, input_); });
  }

  using PlaneTiles = std::array<PlaneTile, max_planes>;

  void run_task(Tile& tile) {
    const PlaneTiles planes = clear_tile(tile);
    for_blocks(tile.task->block, [&](const Block& block) {
      run_block(block, {planes.data(), input_.planes()});
    });
  }

  /// Divides the reference patches `all` of a task into blocks, and calls use(block) from top to
  /// bottom.
  template <class Use>
  void for_blocks(const Block& all, Use use) {
    for (int row = 0; row < all.rows; row += block_.rows)
      use(Block{all.x, all.y + row * matching_.step, all.columns,
                std::min(block_.rows, all.rows - row)});
  }

  /// Minimum and maximum of the motion vectors from the reference patches of a block to another
  /// frame.
  struct MotionRange {
    int min_x, min_y, max_x, max_y;
  };
  MotionRange motion_range(const Block& block, std::span<const Motion> motion) const {
    const int step = matching_.step;
    if (motion.empty()) return {0, 0, 0, 0};
    constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
    MotionRange range{most, most, least, least};
    const int right = block.x + (block.columns - 1) * step;
    const int bottom = block.y + (block.rows - 1) * step;
    const auto index = [&](int position, int side) {
      return motion_grid_.index_of(position) / side;
    };
    for (int j = index(block.y, motion_rows); j <= index(bottom, motion_rows); ++j)
      for (int i = index(block.x, motion_columns); i <= index(right, motion_columns); ++i) {
        const Motion m = motion[j * motion_grid_.columns() + i];
        range.min_x = std::min<int>(range.min_x, m.x);
        range.min_y = std::min<int>(range.min_y, m.y);
        range.max_x = std::max<int>(range.max_x, m.x);
        range.max_y = std::max<int>(range.max_y, m.y);
      }
    return range;
  }

  /// Returns the bounding box of the patches of all groups of a block, in one frame.
  Area reach(const Block& block, const PhaseFrame& frame) const {
    const bool own = frame.offset == 0;
    const auto& clusters = params_.clusters;
    const int radius = clusters ? 0 : (own ? params_.window : params_.temporal_window) / 2;
    MotionRange m = motion_range(block, own ? std::span<const Motion>{} : frame.frame.guide.motion);
    m = {m.min_x - radius, m.min_y - radius, m.max_x + radius, m.max_y + radius};
    if (clusters) {  // a tile of clusters is at the same position in all frames
      const int most = clusters->tile - 1;
      m = {std::min(m.min_x, -most), std::min(m.min_y, -most), std::max(m.max_x, most),
           std::max(m.max_y, most)};
    }
    const int right = block.x + (block.columns - 1) * matching_.step + patch;
    const int bottom = block.y + (block.rows - 1) * matching_.step + patch;
    Area area{std::max(0, block.x + m.min_x), std::max(0, block.y + m.min_y),
              std::min(width_, right + m.max_x), std::min(height_, bottom + m.max_y)};
    area.right = std::max(area.left, area.right);
    area.bottom = std::max(area.top, area.bottom);
    return area;
  }

  PlaneTiles clear_tile(Tile& tile) {
    PlaneTiles planes{};
    for (std::size_t f = 0; f < input_.frames.size(); ++f) {
      const auto& [offset, frame] = input_.frames[f];
      TilePart& part = tile.frames[f];
      part.area = reach(tile.task->block, input_.frames[f]);
      part.stride = round_up(part.area.width(), 16) | 16;
      const std::size_t samples = part.stride * part.area.height();
      const std::ptrdiff_t origin = part.area.top * part.stride + part.area.left;
      for (std::size_t p = 0; p < input_.planes(); ++p) {
        float* const numerator = part.numerator[p].reserve(samples);
        float* const weights = part.weights[p].reserve(samples);
        std::fill_n(numerator, samples, 0.0f);
        std::fill_n(weights, samples, 0.0f);
        FrameTile& to = planes[p].frame[offset];
        to = {frame.noisy[p].data, frame.basic[p].data,   numerator - origin,   weights - origin,
              part.stride,         frame.noisy[p].stride, frame.basic[p].stride};
        if (frame.frame == nullptr) continue;
        to.noisy = load_noisy(*frame.frame, p, part) - origin;
        to.noisy_stride = part.stride;
      }
    }
    for (PlaneTile& plane : planes) plane.wiener = input_.plan.phase == Phase::second;
    return planes;
  }

  /// Loads the noisy samples of a frame in the area that a tile covers.
  const float* load_noisy(const Frame& frame, std::size_t p, TilePart& part) const {
    const Area& area = part.area;
    float* const noisy = part.noisy[p].reserve(part.stride * area.height());
    load_part(frame, input_.set.planes[p], area.left, area.top,
              {noisy, area.width(), area.height(), part.stride});
    return noisy;
  }

  void run_block(const Block& block, std::span<const PlaneTile> planes) {
    const int step = matching_.step;
    float* const stack = workspace().stack.reserve(filter_scratch_size);
    for_groups(block, [&](int row, std::span<Group> groups) {
      if (input_.keeps()) keep(block, row, groups);
      for (int column = 0; column < block.columns; ++column) {
        const int x = block.x + column * step, y = block.y + row * step;
        // Stored groups may have more members than this phase uses.
        Group& group = groups[column];
        group.count = std::min(group.count, params_.group);
        if (input_.plan.filter == Filtering::means)
          average_group(means_, planes, x, y, group);
        else
          for (std::size_t p = 0; p < planes.size(); ++p)
            filter_group(tables_[p], planes[p], x, y, group, stack);
      }
    });
  }

  /// Calls use(row, groups) for each row of reference patches of a block.
  template <class Use>
  void for_groups(const Block& block, Use use) {
    std::vector<Group>& groups = workspace().groups;
    groups.resize(block.columns);
    const int thread = tbb::this_task_arena::current_thread_index();
    matcher_.begin_block(block, thread);
    for (int row = 0; row < block.rows; ++row) {
      matcher_.find(block, row, thread, groups);
      use(row, groups);
    }
  }

  Workspace& workspace() {
    return memory_.workspaces[tbb::this_task_arena::current_thread_index()];
  }

  void keep(const Block& block, int row, std::span<const Group> groups) {
    const int j = motion_grid_.index_of(block.y + row * matching_.step);
    for (int column = 0; column < block.columns; ++column)
      input_.groups->keep(motion_grid_.index_of(block.x + column * matching_.step), j,
                          groups[column]);
  }

  const PhaseInput& input_;
  const PhaseParams& params_;
  Memory& memory_;
  Matcher& matcher_;
  MatchParams matching_;  // parameters of the matcher
  int width_, height_;
  MotionGrid motion_grid_;
  std::vector<GuideAt> guides_;
  std::array<FilterTables, max_planes> tables_{};
  MeansTables means_;
  BlockSize block_;
  std::vector<Task> tasks_;
};

class CpuEngine : public PhaseEngine {
 public:
  CpuEngine(int threads, CpuMatcherFactory make_matcher) : threads_(threads), arena_(threads_) {
    const auto guides = std::make_shared<GuideMemory>();
    memory_.matcher = make_matcher(threads_, guides);
    memory_.propagator = make_propagating_matcher(threads_, guides);
    memory_.reusing = make_reusing_matcher();
    memory_.workspaces.resize(threads_);
    memory_.tiles.resize(threads_ == 1 ? 1 : 2 * threads_);
    allow_threads(threads_);
  }

  bool loads_samples() const override { return true; }

  std::unique_ptr<PhaseSums> make_sums(int width, int height) override {
    return std::make_unique<CpuSums>(width, height, weight_memory_);
  }

  void search(const PhaseInput& input) override {
    arena_.execute([&] { searching(input).search(); });
  }

  void run(const PhaseInput& input) override {
    arena_.execute([&] {
      if (input.propagates())
        PhaseRun(input, memory_, *memory_.propagator, input.plan.matching(input.set)).run();
      else if (input.reuses_groups())
        PhaseRun(input, memory_, *memory_.reusing, input.plan.matching(input.set)).run();
      else
        searching(input).run();
    });
  }

  void finish(const PhasePlan& plan, PhaseSums& sums, PlaneView<float> estimate) override {
    arena_.execute([&] { normalise(plan.window, cpu_sums(sums), estimate); });
  }

 private:
  PhaseRun searching(const PhaseInput& input) {
    return {input, memory_, *memory_.matcher, input.plan.searching(input.set)};
  }

  void normalise(std::span<const float, patch> window, CpuSums& sums, PlaneView<float> estimate) {
    const std::size_t scratch_size = round_up(estimate.width, 16) + 80;
    float* const scratch = line_.reserve(scratch_size * threads_);
    const Normalisation normalisation{sums.numerator(), sums.weights().view(), window, estimate};
    tbb::parallel_for(tbb::blocked_range<int>(0, estimate.height, 16), [&](const auto& rows) {
      const int thread = tbb::this_task_arena::current_thread_index();
      normalise_rows(normalisation, rows.begin(), rows.end(), scratch + thread * scratch_size);
    });
    tbb::parallel_for(0, estimate.height, [&](int y) { sums.clear_numerator(y); });
    sums.weights().clear();
  }

  int threads_;
  tbb::task_arena arena_;
  Memory memory_;
  std::shared_ptr<WeightMemory> weight_memory_ = std::make_shared<WeightMemory>();
  Buffer<float> line_;
};

}  // namespace

std::unique_ptr<PhaseEngine> make_cpu_engine(int threads, CpuMatcherFactory make_matcher) {
  if (threads <= 0) threads = tbb::this_task_arena::max_concurrency();
  return std::make_unique<CpuEngine>(threads, make_matcher);
}

}  // namespace lull::bm3d
