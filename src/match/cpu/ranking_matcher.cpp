// The matcher that searches nothing: it ranks the groups that an earlier phase kept anew.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "match/cpu/matcher.h"
#include "match/cpu/quantiser.h"
#include "match/motion_grid.h"

namespace lull::cpu {
namespace {

/// Blocks share nothing but the engine's tiles, which overlap less where blocks are great.
constexpr BlockSize greatest_block{96, 8};

class RankingMatcher final : public Matcher {
 public:
  BlockSize block_size(const MatchParams&, int columns) const override {
    const int blocks = (columns + greatest_block.columns - 1) / greatest_block.columns;
    return {(columns + blocks - 1) / blocks, greatest_block.rows};
  }

  void begin(const MatchInput& input) override {
    params_ = input.params;
    frames_ = input.frames;
    kept_ = input.kept;
    const PlaneView<const float> guide = frames_[0].frame.samples;
    grid_ = {guide.width, guide.height, params_.step};
    columns_ = reference_count(guide.width, params_.step);
    const Quantiser quantiser = quantiser_of(params_, frames_, input.noise, ranges_);
    const float scores = patch * patch / (quantiser.unit * quantiser.unit);  // of a distance of 1
    limit_ = static_cast<std::int32_t>(std::min(greatest_limit, params_.tau * scores));
    bonus_ =
        static_cast<std::int32_t>(std::min(greatest_limit, params_.place_bonus * scores + 0.5f));
    guides_.stride = static_cast<std::ptrdiff_t>(round_up(guide.width, 64));
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      const auto& [offset, frame] = frames_[f];
      std::int8_t* const bytes = bytes_[f].reserve(guides_.stride * guide.height);
      tbb::parallel_for(tbb::blocked_range<int>(0, guide.height, 32), [&](const auto& rows) {
        for (int y = rows.begin(); y < rows.end(); ++y)
          byte_row({frame.samples.row(y), static_cast<std::size_t>(guide.width)}, quantiser,
                   bytes + y * guides_.stride);
      });
      guides_.frame[offset] = bytes;
    }
  }

  void begin_block(const Block&, int) override {}

  void find(const Block& block, int row, int, std::span<Group> groups) override {
    const int y = block.y + row * params_.step;
    ByOffset<Motion> motion;
    for (int column = 0; column < block.columns; ++column) {
      const int x = block.x + column * params_.step;
      for (const auto& [offset, frame] : frames_)
        if (!frame.motion.empty()) motion[offset] = frame.motion[grid_.bundle_at(x, y)];
      const std::size_t reference =
          static_cast<std::size_t>(grid_.index_of(y)) * columns_ + grid_.index_of(x);
      groups[column] = rank_members({params_.group, limit_, bonus_}, guides_, motion, x, y,
                                    kept_->at(reference));
    }
  }

 private:
  static constexpr float greatest_limit = (1 << 26) - 64;  // with room for rounding

  // Of the frame whose references are ranked, from begin() on.
  MatchParams params_;
  std::span<const GuideFrame> frames_;
  const KeptGroups* kept_ = nullptr;
  MotionGrid grid_;
  int columns_ = 0;  // of reference patches
  std::int32_t limit_ = 0, bonus_ = 0;
  ByteGuides guides_;

  // Memory, kept from one frame to the next.
  SampleRanges ranges_;
  std::array<Buffer<std::int8_t>, max_frames> bytes_;
};

}  // namespace

std::unique_ptr<Matcher> make_ranking_matcher(int) { return std::make_unique<RankingMatcher>(); }

}  // namespace lull::cpu
