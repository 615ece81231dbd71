// The propagating matcher (propagation.h) finds the group of a reference patch without a search of
// the complete window. The candidates are the patches in small refinement windows, and patches at
// the same displacements as the group members of neighbouring reference patches.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "match/cpu/cluster_kernels.h"
#include "match/cpu/window_search.h"

namespace lull::cpu {
namespace {

/// Maximum size of a block, in reference patches. The size is large, because neighbouring blocks
/// add estimates to overlapping areas. The larger the blocks, the smaller is the share of the
/// overlap.
constexpr BlockSize max_block{96, 8};

constexpr int strip_rows = patch / 2;

BlockSize default_block(int columns) {
  const int blocks = (columns + max_block.columns - 1) / max_block.columns;
  return {(columns + blocks - 1) / blocks, max_block.rows};
}

/// Returns the parameters for the search of the refinement windows.
MatchParams refine_windows(MatchParams params) {
  params.window = params.refine_window;
  params.temporal_window = params.refine_temporal_window;
  return params;
}

class PropagatingMatcher final : public Matcher {
 public:
  PropagatingMatcher(int threads, const std::shared_ptr<GuideMemory>& memory)
      : memory_(memory), search_(threads, memory) {}

  BlockSize block_size(const MatchParams& params, int columns) const override {
    if (params.refine_window > 1) return WindowSearch::block_size(refine_windows(params), columns);
    return default_block(columns);
  }

  void begin(const MatchInput& input) override {
    params_ = input.params;
    frames_ = input.frames;
    kept_ = input.kept;
    const PlaneView<const float> guide = frames_[0].frame.samples;
    grid_ = {guide.width, guide.height, params_.step};
    const Quantiser quantiser = quantiser_of(params_, frames_, input.noise, ranges_);
    search_.begin(refine_windows(params_), frames_, quantiser);
    const float scores = scores_per_distance(quantiser);
    limit_ = score_of(params_.tau, scores);
    motion_bias_ = rounded_score_of(params_.motion_bias, scores);
    offsets_.clear();
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      offsets_.push_back(frames_[f].offset);
      prepare_strips(frames_[f].frame.samples, quantiser, f);
    }
  }

  void begin_block(const Block& block, int thread) override { search_.begin_block(block, thread); }

  void find(const Block& block, int row, int thread, std::span<Group> groups) override {
    const std::span<const Ranking> near = search_.rank(block, row, thread);
    const int y = block.y + row * params_.step;
    PropagationReach reach{offsets_, {}, row_};
    std::array<std::uint32_t, max_propagated> members{};
    for (int column = 0; column < block.columns; ++column) {
      const int x = block.x + column * params_.step;
      for (std::size_t f = 0; f < frames_.size(); ++f)
        reach.frames[offsets_[f]] = frame_of(f, x, y);
      const auto count = static_cast<std::size_t>(kept_->candidates_of(x, y, members));
      groups[column] = propagate({params_.group, limit_, motion_bias_}, reach, x, y,
                                 {members.data(), count}, near[column]);
    }
  }

 private:
  PropagationFrame frame_of(std::size_t f, int x, int y) const {
    const auto& [offset, frame] = frames_[f];
    const bool own = offset == 0;
    const Motion motion = frame.motion.empty() ? Motion{} : frame.motion[grid_.bundle_at(x, y)];
    const int radius = (own ? params_.window : params_.temporal_window) / 2;
    const int near = own ? params_.refine_window : params_.refine_temporal_window;
    const PlaneView<const float> guide = frame.samples;
    return {.strips = memory_->strips[f].data(),
            .predicted = motion,
            .refine_radius = near == 0 ? -1 : near / 2,
            .left = std::max(motion.x - radius, -x),
            .right = std::min(motion.x + radius, guide.width - patch - x),
            .top = std::max(motion.y - radius, -y),
            .bottom = std::min(motion.y + radius, guide.height - patch - y)};
  }

  void prepare_strips(PlaneView<const float> guide, const Quantiser& quantiser, std::size_t f) {
    row_ = static_cast<int>(round_up(guide.width, 64));
    const int rows = guide.height - strip_rows + 1;
    const std::size_t samples = static_cast<std::size_t>(row_) * guide.height;
    std::int8_t* const bytes = memory_->bytes.reserve(samples);
    std::int8_t* const strips = memory_->strips[f].reserve(samples * strip_rows);
    tbb::parallel_for(tbb::blocked_range<int>(0, guide.height, 32), [&](const auto& range) {
      for (int y = range.begin(); y < range.end(); ++y)
        byte_row({guide.row(y), static_cast<std::size_t>(guide.width)}, quantiser,
                 bytes + static_cast<std::ptrdiff_t>(y) * row_);
    });
    tbb::parallel_for(tbb::blocked_range<int>(0, rows, 32), [&](const auto& range) {
      for (int y = range.begin(); y < range.end(); ++y) {
        const auto row_of = [&](int k) {
          return reinterpret_cast<const std::uint8_t*>(bytes) +
                 static_cast<std::ptrdiff_t>(y + k) * row_;
        };
        fill_strips({row_of(0), row_of(1), row_of(2), row_of(3)}, row_,
                    reinterpret_cast<std::uint8_t*>(strips) +
                        static_cast<std::ptrdiff_t>(y) * row_ * strip_rows);
      }
    });
  }

  // begin() sets these data of the current reference frame.
  MatchParams params_;
  std::span<const GuideAt> frames_;
  std::vector<int> offsets_;  // time offsets of the frames
  const KeptGroups* kept_ = nullptr;
  MotionGrid grid_;
  std::uint16_t limit_ = 0, motion_bias_ = 0;  // distance parameters in units of scores
  int row_ = 0;                                // distance between rows of the strips, in samples

  std::shared_ptr<GuideMemory> memory_;
  WindowSearch search_;  // searches the refinement windows
  SampleRanges ranges_;  // memory that is reused from frame to frame
};

class ReusingMatcher final : public Matcher {
 public:
  BlockSize block_size(const MatchParams&, int columns) const override {
    return default_block(columns);
  }
  void begin(const MatchInput& input) override {
    kept_ = input.kept;
    const PlaneView<const float> guide = input.frames[0].frame.samples;
    grid_ = {guide.width, guide.height, input.params.step};
  }
  void begin_block(const Block&, int) override {}
  void find(const Block& block, int row, int, std::span<Group> groups) override {
    const int y = block.y + row * grid_.step;
    for (int column = 0; column < block.columns; ++column)
      kept_->copy(grid_.index_of(block.x + column * grid_.step), grid_.index_of(y), groups[column]);
  }

 private:
  const KeptGroups* kept_ = nullptr;
  MotionGrid grid_;
};

}  // namespace

std::unique_ptr<Matcher> make_reusing_matcher() { return std::make_unique<ReusingMatcher>(); }

std::unique_ptr<Matcher> make_propagating_matcher(int threads,
                                                  const std::shared_ptr<GuideMemory>& memory) {
  return std::make_unique<PropagatingMatcher>(threads, memory);
}

}  // namespace lull::cpu
