#include "match/clusters.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/error.h"

namespace lull {
namespace {

/// A cluster centre: the sum of the patches of a cluster, sample by sample, and the number of
/// patches.
struct Centre {
  std::array<int, patch_samples> sum{};
  int count = 0;

  void add(const std::uint8_t* samples) {
    for (int k = 0; k < patch_samples; ++k) sum[k] += samples[k];
    ++count;
  }
};

Split split_of_centres(const Centre& first, const Centre& second) {
  std::array<int, patch_samples> differences;
  int greatest = 0;
  for (int k = 0; k < patch_samples; ++k) {
    differences[k] = split_difference(first.sum[k], first.count, second.sum[k], second.count);
    greatest = std::max(greatest, std::abs(differences[k]));
  }
  const int shift = split_shift(greatest);
  Split split;
  int middle = 0;
  for (int k = 0; k < patch_samples; ++k) {
    const int weight = split_weight(differences[k], shift);
    split.weight[k] = static_cast<std::int8_t>(weight);
    middle += weight * split_midpoint(first.sum[k], first.count, second.sum[k], second.count);
  }
  split.bound = split_bound(middle, first.count, second.count);
  return split;
}

int product(const std::uint8_t* samples, const Split& split) {
  int sum = 0;
  for (int k = 0; k < patch_samples; ++k) sum += samples[k] * split.weight[k];
  return sum;
}

int root_distance(const std::uint8_t* a, const std::uint8_t* b) {
  int sum = 0;
  for (int k = 0; k < patch_samples; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  // The sum of squares is below 2^23, so a float represents it exactly, and the square root,
  // rounded down, is exact.
  return static_cast<int>(std::sqrt(static_cast<float>(sum)));
}

}  // namespace

std::optional<ClusterParams> parse_clusters(std::string_view text) {
  if (text == "paper") return paper_clusters;
  ClusterParams params;
  const char *at = text.data(), *const end = at + text.size();
  for (int* const value : {&params.tile, &params.leaf, &params.tilings}) {
    if (value != &params.tile && (at == end || *at++ != ':')) return std::nullopt;
    const auto [stop, error] = std::from_chars(at, end, *value);
    if (error != std::errc{}) return std::nullopt;
    at = stop;
  }
  return at == end ? std::optional(params) : std::nullopt;
}

std::string text_of(const ClusterParams& params) {
  return std::to_string(params.tile) + ":" + std::to_string(params.leaf) + ":" +
         std::to_string(params.tilings);
}

std::optional<Split> find_split(const SeedSamples& samples) {
  const auto sample = [&](int i) { return samples.data() + i * patch_samples; };
  std::array<int, split_seeds> distances{};
  for (int i = 1; i < split_seeds; ++i) distances[i] = root_distance(sample(0), sample(i));
  const int other = second_centre(distances);
  if (other < 0) return std::nullopt;
  Centre centres[2];
  centres[0].add(sample(0));
  centres[1].add(sample(other));
  unsigned last = 0;
  for (int round = 0;; ++round) {
    const Split split = split_of_centres(centres[0], centres[1]);
    if (round == max_split_rounds) return split;
    unsigned in_second = 0;
    for (int i = 0; i < split_seeds; ++i)
      in_second |= static_cast<unsigned>(product(sample(i), split) < split.bound) << i;
    constexpr unsigned all = (1u << split_seeds) - 1;
    if (in_second == last || in_second == 0 || in_second == all) return split;
    last = in_second;
    centres[0] = centres[1] = {};
    for (int i = 0; i < split_seeds; ++i) centres[in_second >> i & 1].add(sample(i));
  }
}

std::optional<Split> PatchSpace::split(std::span<const std::uint32_t> patches) const {
  SeedSamples all;
  for (int i = 0; i < split_seeds; ++i)
    samples(patches[seed_index(i, static_cast<int>(patches.size()))],
            all.data() + i * patch_samples);
  return find_split(all);
}

ClusterRules::ClusterRules(const MatchParams& params) {
  const auto scale = static_cast<double>(GuideBytes(params.range).scale);
  const auto in_guide = [&](float mean) {
    const double sum = static_cast<double>(mean) * (patch * patch) * scale * scale;
    constexpr double most = 1 << 22;
    return static_cast<std::int32_t>(std::clamp(sum, -most, most));
  };
  limit = in_guide(params.tau);
  motion_bias = in_guide(params.motion_bias);
  biased = params.bias != nullptr;
  if (biased)
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = in_guide((*params.bias)[i]);
}

void require_numbered(int width, int height, int frames, const ClusterParams& params) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  const std::uint64_t in_frame = std::uint64_t{1} * PatchNumbers(width, height).row * height;
  const std::uint64_t members =
      std::uint64_t{1} * (width - patch + 1) * (height - patch + 1) * frames * params.tilings;
  if (in_frame <= std::numeric_limits<int>::max() && in_frame * frames <= most && members <= most)
    return;
  throw InvalidArgument("clusters in " + std::to_string(frames) + " frames of " +
                        std::to_string(width) + "x" + std::to_string(height) + " samples with " +
                        std::to_string(params.tilings) +
                        " tilings (they have more patches than the 2^32 that lull numbers); choose "
                        "fewer tilings, a smaller --temporal, or the matcher window");
}

void Clusters::plan(int width, int height, int frames, const ClusterParams& params) {
  params_ = params;
  numbers_ = PatchNumbers(width, height);
  frames_ = frames;
  tilings_.clear();
  first_tile_.clear();
  offsets_.clear();
  std::size_t offset = 0;
  for (int k = 0; k < params.tilings; ++k) {
    const Tiling& tiling = tilings_.emplace_back(width, height, params, k);
    first_tile_.push_back(tiles());
    for (int i = 0; i < tiling.columns() * tiling.rows(); ++i) {
      offsets_.push_back(offset);
      offset += static_cast<std::size_t>(frames) * tiling.tile(i).places();
    }
  }
  members_.resize(offset + scratch_padding);
  counts_.resize(offset);
  begins_.resize(static_cast<std::size_t>(params.tilings) * frames * numbers_.frame);
}

std::size_t Clusters::list(const Tiling::Tile& tile, std::uint32_t* to) const {
  std::uint32_t* const begin = to;
  for (int f = 0; f < frames_; ++f)
    for (int y = tile.y; y < tile.bottom; ++y)
      for (int x = tile.x; x < tile.right; ++x) *to++ = numbers_.of(f, x, y);
  return to - begin;
}

void Clusters::keep(int tiling, std::size_t begin, std::size_t count) {
  counts_[begin] = static_cast<std::uint8_t>(count);
  std::uint32_t* const begins =
      begins_.data() + static_cast<std::size_t>(tiling) * frames_ * numbers_.frame;
  for (std::size_t i = begin; i < begin + count; ++i)
    begins[members_[i]] = static_cast<std::uint32_t>(begin);
}

void Clusters::make(int tile, const PatchSpace& space, std::vector<std::uint32_t>& scratch) {
  const auto after = std::ranges::upper_bound(first_tile_, tile);
  const int tiling = static_cast<int>(after - first_tile_.begin()) - 1;
  const std::size_t begin = offsets_[tile];
  const std::size_t count =
      list(tilings_[tiling].tile(tile - first_tile_[tiling]), members_.data() + begin);
  scratch.resize(count + scratch_padding);

  struct Node {
    std::size_t begin, count;
    int level;
  };
  std::vector<Node> nodes{{begin, count, 0}};
  while (!nodes.empty()) {
    const Node node = nodes.back();
    nodes.pop_back();
    if (node.count <= static_cast<std::size_t>(params_.leaf)) {
      keep(tiling, node.begin, node.count);
      continue;
    }
    const std::span<std::uint32_t> patches(members_.data() + node.begin, node.count);
    std::size_t first = 0;
    if (node.level < max_split_levels) {
      if (const auto split = space.split(patches))
        first = space.partition(patches, *split, scratch.data());
    }
    if (first == 0 || first == node.count) first = node.count / 2;
    nodes.push_back({node.begin, first, node.level + 1});
    nodes.push_back({node.begin + first, node.count - first, node.level + 1});
  }
}

}  // namespace lull
