#include "cuda/handles.h"
#include "match/cuda/kernels_clusters.h"
#include "match/cuda/matcher.h"

namespace lull::cuda {
namespace {

/// A matcher that makes the clusters of a plane once, before the first batch of the plane.
class ClusterMatcher final : public Matcher {
 public:
  ClusterMatcher(const MatchParams& params, int others, const Margins& greatest) {
    require_numbered_places(greatest);
    const int frames = others + 1, tilings = params.clusters->tilings;
    const std::size_t members = members_of(greatest, frames);
    members_ = DeviceBuffer<std::uint32_t>(tilings * members);
    begins_ = DeviceBuffer<std::uint32_t>(tilings * frames * greatest.size());
    counts_ = DeviceBuffer<std::uint8_t>(tilings * members);
    scratch_ = DeviceBuffer<std::uint32_t>(members);
    nodes_ = DeviceBuffer<uint2>(2 * nodes_of(members, params.clusters->leaf));
  }

  void find(const MatchInput& in, const Groups& groups, cudaStream_t stream) const override {
    ClusterFrames frames;
    for (const auto& [offset, frame] : in.frames) {
      const int f = frames.count++;
      frames.guide[f] = frame.guide.samples;
      frames.offset[f] = offset;
      frames.motion[f] = frame.motion;
    }
    const ClusterMemory memory{members_.get(), begins_.get(), counts_.get(), scratch_.get(),
                               nodes_.get()};
    if (in.batch.x0 == 0 && in.batch.y0 == 0)
      make_clusters(frames, in.margins, *in.params.clusters, memory, stream);
    match_in_clusters(frames, in.margins, in.grid, in.motion, in.batch, in.params, memory, groups,
                      stream);
  }

 private:
  DeviceBuffer<std::uint8_t> counts_;
  DeviceBuffer<std::uint32_t> members_, begins_, scratch_;
  DeviceBuffer<uint2> nodes_;
};

}  // namespace

std::unique_ptr<Matcher> make_cluster_matcher(const MatchParams& params, int others,
                                              const Margins& greatest) {
  return std::make_unique<ClusterMatcher>(params, others, greatest);
}

std::unique_ptr<Matcher> make_matcher(const MatchParams& params, int others,
                                      const Margins& greatest) {
  return (params.clusters ? make_cluster_matcher : make_exhaustive_matcher)(params, others,
                                                                            greatest);
}

}  // namespace lull::cuda
