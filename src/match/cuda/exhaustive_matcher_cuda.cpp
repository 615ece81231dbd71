#include "cuda/shared_memory.h"
#include "match/cuda/matcher.h"

namespace lull::cuda {
namespace {

class FrameMatcher final : public Matcher {
 public:
  explicit FrameMatcher(const MatchParams& params) : plan_(plan_match(params, device_limits())) {}
  void find(const MatchInput& in, const Groups& groups, cudaStream_t stream) const override {
    match(in.frames.front().frame.guide, in.margins, in.grid, in.batch, in.params, plan_, groups,
          stream);
  }

 private:
  MatchPlan plan_;
};

class TimeMatcher final : public Matcher {
 public:
  TimeMatcher(const MatchParams& params, int others)
      : plan_(plan_match_over_time(params, others, device_limits())) {}
  void find(const MatchInput& in, const Groups& groups, cudaStream_t stream) const override {
    match_over_time(in.frames, in.margins, in.grid, in.motion, in.batch, in.params, plan_, groups,
                    stream);
  }

 private:
  TimePlan plan_;
};

}  // namespace

std::unique_ptr<Matcher> make_exhaustive_matcher(const MatchParams& params, int others,
                                                 const Margins&) {
  if (others == 0) return std::make_unique<FrameMatcher>(params);
  return std::make_unique<TimeMatcher>(params, others);
}

}  // namespace lull::cuda
