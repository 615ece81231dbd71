// Clustered matching as match/clusters.h defines it, without optimisation.

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/plane.h"
#include "match/clusters.h"
#include "match/reference/matcher.h"

namespace lull::reference {
namespace {

/// The guides, converted to 8 bits, with unoptimised access to their patches.
class ScalarPatchSpace final : public PatchSpace {
 public:
  ScalarPatchSpace(std::span<const FramePlane> guides, const MatchParams& params)
      : numbers_(guides[0].frame.samples.width, guides[0].frame.samples.height) {
    const GuideBytes bytes(params.range);
    for (const auto& [offset, plane] : guides) {
      auto& guide = guides_.emplace_back(plane.samples.width, plane.samples.height);
      for (int y = 0; y < plane.samples.height; ++y)
        for (int x = 0; x < plane.samples.width; ++x)
          guide.view()(x, y) = bytes(plane.samples(x, y));
    }
  }

  void samples(std::uint32_t number, std::uint8_t* to) const override {
    for (int y = 0; y < patch; ++y) to = std::copy_n(patch_at(number) + y * stride(), patch, to);
  }

  std::size_t partition(std::span<std::uint32_t> patches, const Split& split,
                        std::uint32_t*) const override {
    const auto second = std::ranges::stable_partition(patches, [&](std::uint32_t number) {
      std::array<std::uint8_t, patch_samples> own;
      samples(number, own.data());
      int product = 0;
      for (int k = 0; k < patch_samples; ++k) product += own[k] * split.weight[k];
      return product >= split.bound;
    });
    return patches.size() - second.size();
  }

  std::int32_t distance(std::uint32_t a, std::uint32_t b) const {
    const std::uint8_t *const first = patch_at(a), *const second = patch_at(b);
    std::int32_t sum = 0;
    for (int y = 0; y < patch; ++y)
      for (int x = 0; x < patch; ++x) {
        const int difference = first[y * stride() + x] - second[y * stride() + x];
        sum += difference * difference;
      }
    return sum;
  }

 private:
  std::ptrdiff_t stride() const { return guides_[0].view().stride; }
  const std::uint8_t* patch_at(std::uint32_t number) const {
    const PatchNumbers::Place place = numbers_.place(number);
    return guides_[place.index].view().row(place.y) + place.x;
  }

  PatchNumbers numbers_;
  std::vector<Plane<std::uint8_t>> guides_;
};

class ClusterMatcher final : public Matcher {
 public:
  void begin(std::span<const FramePlane> guides, const MatchParams& params,
             PatchShape shape) override {
    if (shape != square_8)
      throw InvalidArgument(
          "clusters of patches other than 8x8 samples (the cluster matcher supports only 8x8); "
          "choose the window matcher");
    space_.emplace(guides, params);
    rules_.emplace(params);
    const PlaneView<const float> own = guides[0].frame.samples;
    clusters_.plan(own.width, own.height, static_cast<int>(guides.size()), *params.clusters);
    std::vector<std::uint32_t> scratch;
    for (int i = 0; i < clusters_.tiles(); ++i) clusters_.make(i, *space_, scratch);
  }

  Group find(std::span<const FramePlane> guides, int x, int y, const MatchParams& params,
             PatchShape) const override {
    const PatchNumbers& numbers = clusters_.numbers();
    const std::uint32_t own = numbers.of(0, x, y);
    using Candidate = std::pair<std::int32_t, std::uint32_t>;  // distance, patch index
    std::vector<Candidate> candidates;
    for (const std::uint32_t number : candidates_of(guides, x, y)) {
      const auto [index, u, v] = numbers.place(number);
      const Motion& motion = guides[index].frame.motion;
      std::int32_t distance = space_->distance(own, number);
      if (index == 0) distance = rules_->with_bias(distance, u - x, v - y);
      if (index > 0 && u == x + motion.x && v == y + motion.y)
        distance = rules_->with_motion_bias(distance);
      if (number != own && distance <= rules_->limit) candidates.emplace_back(distance, number);
    }
    std::ranges::sort(candidates);

    Group group;
    const std::size_t found = std::min<std::size_t>(candidates.size() + 1, params.group);
    group.count = static_cast<int>(std::bit_floor(found));
    group.members[0] = pack_displacement(0, 0);
    for (int m = 1; m < group.count; ++m) {
      const PatchNumbers::Place place = numbers.place(candidates[m - 1].second);
      group.members[m] = pack_displacement(place.x - x, place.y - y, guides[place.index].offset);
    }
    return group;
  }

 private:
  /// Returns the patch indices of all candidates of a reference patch in ascending order, without
  /// duplicates.
  std::vector<std::uint32_t> candidates_of(std::span<const FramePlane> guides, int x, int y) const {
    std::vector<std::uint32_t> all;
    const std::uint32_t own_number = clusters_.numbers().of(0, x, y);
    for (int k = 0; k < clusters_.tilings(); ++k) {
      const auto leaf = clusters_.leaf(k, own_number);
      all.insert(all.end(), leaf.begin(), leaf.end());
    }
    const PlaneView<const float> own = guides[0].frame.samples;
    for (std::size_t f = 1; f < guides.size(); ++f) {
      const int u = x + guides[f].frame.motion.x, v = y + guides[f].frame.motion.y;
      if (u >= 0 && v >= 0 && u <= own.width - patch && v <= own.height - patch)
        all.push_back(clusters_.numbers().of(static_cast<int>(f), u, v));
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  std::optional<ScalarPatchSpace> space_;
  std::optional<ClusterRules> rules_;
  Clusters clusters_;
};

/// Runs the cluster matcher if MatchParams::clusters has a value, and the exhaustive matcher if
/// not.
class DispatchingMatcher final : public Matcher {
 public:
  void begin(std::span<const FramePlane> guides, const MatchParams& params,
             PatchShape shape) override {
    std::unique_ptr<Matcher>& matcher = params.clusters ? clusters_ : exhaustive_;
    if (matcher == nullptr)
      matcher = params.clusters ? make_cluster_matcher() : make_exhaustive_matcher();
    matcher->begin(guides, params, shape);
  }
  Group find(std::span<const FramePlane> guides, int x, int y, const MatchParams& params,
             PatchShape shape) const override {
    return (params.clusters ? clusters_ : exhaustive_)->find(guides, x, y, params, shape);
  }

 private:
  std::unique_ptr<Matcher> exhaustive_, clusters_;
};

}  // namespace

std::unique_ptr<Matcher> make_cluster_matcher() { return std::make_unique<ClusterMatcher>(); }
std::unique_ptr<Matcher> make_matcher() { return std::make_unique<DispatchingMatcher>(); }

}  // namespace lull::reference
