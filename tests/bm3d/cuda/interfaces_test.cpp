// Tests the matcher interface on the GPU with groups of one member. Such groups come from another
// matcher, or follow from the parameters.

#include <gtest/gtest.h>

#include "bm3d/bm3d.h"
#include "bm3d/cuda/session_with_matcher.h"
#include "core/error.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

/// Finds only the reference patch.
class ReferenceOnlyMatcher final : public cuda::Matcher {
 public:
  void find(const cuda::MatchInput& input, const Groups& groups,
            cudaStream_t stream) const override {
    const std::size_t references =
        static_cast<std::size_t>(input.batch.tiles_x) * input.batch.tiles_y * references_per_tile;
    cuda::check(cudaMemsetAsync(groups.log2_count, 0, references, stream));
    cuda::check(cudaMemsetAsync(groups.displacements, 0,
                                references * groups.capacity * sizeof(std::uint32_t), stream));
  }
};

std::unique_ptr<cuda::Matcher> make_reference_only_matcher(const MatchParams&, int,
                                                           const Margins&) {
  return std::make_unique<ReferenceOnlyMatcher>();
}

using CudaMatcherInterface = GpuTest;

TEST_F(CudaMatcherInterface, InjectedMatcherReplacesTheExhaustiveOne) {
  const FrameFormat format{.width = 150, .height = 90};
  std::vector<Frame> clip;
  for (unsigned n = 0; n < 4; ++n) {
    clip.push_back(make_frame(format));
    store_plane(with_noise(texture_picture(150, 90).view(), 20, n + 1).view(), clip.back(), 0);
  }
  for (const int radius : {0, 1}) {
    Params params = make_params(Profile::fast, {20, 20, 20}, radius);
    params.kept = 0;  // otherwise the refinement would find patches without a matcher
    params.same_groups = SameGroups::none;
    params.hard.group = params.wiener.group = 8;  // the kernels for groups of 1 have slots for 8
    const auto session = open_cuda(params, format, 0, 2, make_reference_only_matcher);
    const std::vector<Frame> actual = run_clip(*session, clip);
    params.hard.group = params.wiener.group = 1;
    const auto alone = open(params, format, {.kind = BackendKind::cuda});
    const std::vector<Frame> expected = run_clip(*alone, clip);
    ASSERT_EQ(actual.size(), clip.size());
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_TRUE(same_samples(actual[n], expected[n])) << "frame " << n << ", R = " << radius;
  }
}

TEST_F(CudaMatcherInterface, FourierTransformRejectsColouredNoise) {
  Params params = make_params(Profile::fast, {20, 20, 20});
  auto correlation = std::make_shared<Autocorrelation>();
  (*correlation)[lag_index(0, 0)] = 1;
  params.noise.plane(0).correlation = correlation;
  params.wiener.transform = Transform::dft;
  const FrameFormat format{.width = 32, .height = 32};
  const Backend gpu{.kind = BackendKind::cuda};
  EXPECT_THROW((void)open(params, format, gpu), InvalidArgument);
}

}  // namespace
}  // namespace lull::bm3d
