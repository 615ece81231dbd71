// The exhaustive matcher: compares all candidates of the search windows.

#include "match/cpu/window_search.h"

namespace lull::cpu {
namespace {

class ExhaustiveMatcher final : public Matcher {
 public:
  ExhaustiveMatcher(int threads, const std::shared_ptr<GuideMemory>& memory)
      : search_(threads, memory) {}

  BlockSize block_size(const MatchParams& params, int columns) const override {
    return WindowSearch::block_size(params, columns);
  }

  void begin(const MatchInput& input) override {
    search_.begin(input.params, input.frames,
                  quantiser_of(input.params, input.frames, input.noise, ranges_));
  }

  void begin_block(const Block& block, int thread) override { search_.begin_block(block, thread); }

  void find(const Block& block, int row, int thread, std::span<Group> groups) override {
    const std::span<const Ranking> rankings = search_.rank(block, row, thread);
    for (std::size_t i = 0; i < rankings.size(); ++i) make_group(rankings[i], groups[i]);
  }

 private:
  WindowSearch search_;
  SampleRanges ranges_;  // memory that is reused from frame to frame
};

}  // namespace

std::unique_ptr<Matcher> make_exhaustive_matcher(int threads,
                                                 const std::shared_ptr<GuideMemory>& memory) {
  return std::make_unique<ExhaustiveMatcher>(threads, memory);
}

}  // namespace lull::cpu
