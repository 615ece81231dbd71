// The matcher that does not search whole windows: those near a reference patch alone, and what
// others found in theirs (propagation.h).

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "match/cpu/cluster_kernels.h"
#include "match/cpu/window_search.h"

namespace lull::cpu {
namespace {

/// Blocks share nothing but the engine's tiles, which overlap less where blocks are great.
constexpr BlockSize greatest_block{96, 8};

constexpr int strip_rows = patch / 2;

BlockSize usual_block(int columns) {
  const int blocks = (columns + greatest_block.columns - 1) / greatest_block.columns;
  return {(columns + blocks - 1) / blocks, greatest_block.rows};
}

/// What of the phase is searched all the same.
MatchParams near_windows(MatchParams params) {
  params.window = params.near_window;
  params.temporal_window = params.near_temporal_window;
  return params;
}

class PropagatingMatcher final : public Matcher {
 public:
  explicit PropagatingMatcher(int threads) : search_(threads) {}

  BlockSize block_size(const MatchParams& params, int columns) const override {
    if (params.near_window > 1) return WindowSearch::block_size(near_windows(params), columns);
    return usual_block(columns);
  }

  void begin(const MatchInput& input) override {
    params_ = input.params;
    frames_ = input.frames;
    kept_ = input.kept;
    const PlaneView<const float> guide = frames_[0].frame.samples;
    grid_ = {guide.width, guide.height, params_.step};
    const Quantiser quantiser = quantiser_of(params_, frames_, input.noise, ranges_);
    search_.begin(near_windows(params_), frames_, quantiser);
    const float scores = scores_per_distance(quantiser);
    limit_ = score_of(params_.tau, scores);
    bonus_ = rounded_score_of(params_.place_bonus, scores);
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
      const auto count = static_cast<std::size_t>(kept_->looked_at(x, y, members));
      groups[column] = propagate({params_.group, limit_, bonus_}, reach, x, y,
                                 {members.data(), count}, near[column]);
    }
  }

 private:
  PropagationFrame frame_of(std::size_t f, int x, int y) const {
    const auto& [offset, frame] = frames_[f];
    const bool own = offset == 0;
    const Motion motion = frame.motion.empty() ? Motion{} : frame.motion[grid_.bundle_at(x, y)];
    const int radius = (own ? params_.window : params_.temporal_window) / 2;
    const int near = own ? params_.near_window : params_.near_temporal_window;
    const PlaneView<const float> guide = frame.samples;
    return {.strips = strips_[f].data(),
            .predicted = motion,
            .near_radius = near == 0 ? -1 : near / 2,
            .left = std::max(motion.x - radius, -x),
            .right = std::min(motion.x + radius, guide.width - patch - x),
            .top = std::max(motion.y - radius, -y),
            .bottom = std::min(motion.y + radius, guide.height - patch - y)};
  }

  void prepare_strips(PlaneView<const float> guide, const Quantiser& quantiser, std::size_t f) {
    row_ = static_cast<int>(round_up(guide.width, 64));
    const int rows = guide.height - strip_rows + 1;
    const std::size_t samples = static_cast<std::size_t>(row_) * guide.height;
    std::int8_t* const bytes = bytes_.reserve(samples);
    std::int8_t* const strips = strips_[f].reserve(samples * strip_rows);
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

  // Of the frame whose references are matched, from begin() on.
  MatchParams params_;
  std::span<const GuideFrame> frames_;
  std::vector<int> offsets_;  // theirs
  const KeptGroups* kept_ = nullptr;
  MotionGrid grid_;
  std::uint16_t limit_ = 0, bonus_ = 0;  // as scores
  int row_ = 0;                          // of the strips

  WindowSearch search_;  // of the near windows
  // Memory, kept from one frame to the next.
  SampleRanges ranges_;
  Buffer<std::int8_t> bytes_;
  std::array<Buffer<std::int8_t>, max_frames> strips_;
};

class TakingMatcher final : public Matcher {
 public:
  BlockSize block_size(const MatchParams&, int columns) const override {
    return usual_block(columns);
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

std::unique_ptr<Matcher> make_taking_matcher() { return std::make_unique<TakingMatcher>(); }

std::unique_ptr<Matcher> make_propagating_matcher(int threads) {
  return std::make_unique<PropagatingMatcher>(threads);
}

}  // namespace lull::cpu
