#include "match/clusters.h"

#include <charconv>
#include <cmath>

namespace lull {
namespace {

/// The sums of patches, and how many they are.
struct Centre {
  std::array<int, max_features> sum{};
  int count = 0;

  void add(const std::uint8_t* features, int length) {
    for (int k = 0; k < length; ++k) sum[k] += features[k];
    ++count;
  }
};

Cut cut_between(const Centre& first, const Centre& second, int features) {
  Cut cut;
  std::int64_t norms[2] = {};
  for (int k = 0; k < features; ++k) {
    cut.weight[k] = static_cast<std::int16_t>(
        cut_weight(first.sum[k], first.count, second.sum[k], second.count));
    norms[0] += first.sum[k] * first.sum[k];
    norms[1] += second.sum[k] * second.sum[k];
  }
  cut.bound = cut_bound(norms[0], first.count, norms[1], second.count);
  return cut;
}

int product(const std::uint8_t* features, const Cut& cut, int length) {
  int sum = 0;
  for (int k = 0; k < length; ++k) sum += features[k] * cut.weight[k];
  return sum;
}

int distance(const std::uint8_t* a, const std::uint8_t* b, int length) {
  int sum = 0;
  for (int k = 0; k < length; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  // The sum is below 2^23, so that the root is rounded as it should be before it is cut off.
  return static_cast<int>(std::sqrt(static_cast<float>(sum)));
}

}  // namespace

std::optional<ClusterParams> parse_clusters(std::string_view text) {
  if (text == "paper") return paper_clusters;
  ClusterParams params;
  int* const values[] = {&params.tile, &params.leaf, &params.tilings, &params.cell};
  int count = 0;
  const char *at = text.data(), *const end = at + text.size();
  for (; count < 4; ++at) {
    const auto [stop, error] = std::from_chars(at, end, *values[count++]);
    if (error != std::errc{}) return std::nullopt;
    at = stop;
    if (at == end) break;
    if (*at != ':' || count == 4) return std::nullopt;
  }
  return at == end && count >= 3 ? std::optional(params) : std::nullopt;
}

std::string text_of(const ClusterParams& params) {
  return std::to_string(params.tile) + ":" + std::to_string(params.leaf) + ":" +
         std::to_string(params.tilings) + ":" + std::to_string(params.cell);
}

std::optional<Cut> find_cut(std::span<const std::uint8_t> samples, int features) {
  const auto sample = [&](int i) { return samples.data() + i * features; };
  std::array<int, cut_samples> distances{};
  for (int i = 1; i < cut_samples; ++i) distances[i] = distance(sample(0), sample(i), features);
  const int other = second_centre(distances);
  if (other < 0) return std::nullopt;
  Centre centres[2];
  centres[0].add(sample(0), features);
  centres[1].add(sample(other), features);
  unsigned last = 0;
  for (int round = 0;; ++round) {
    const Cut cut = cut_between(centres[0], centres[1], features);
    if (round == cut_rounds) return cut;
    unsigned in_second = 0;
    for (int i = 0; i < cut_samples; ++i)
      in_second |= static_cast<unsigned>(product(sample(i), cut, features) < cut.bound) << i;
    constexpr unsigned all = (1u << cut_samples) - 1;
    if (in_second == last || in_second == 0 || in_second == all) return cut;
    last = in_second;
    centres[0] = centres[1] = {};
    for (int i = 0; i < cut_samples; ++i) centres[in_second >> i & 1].add(sample(i), features);
  }
}

ClusterRules::ClusterRules(const MatchParams& params) {
  const auto scale = static_cast<double>(GuideBytes(params.range).scale);
  const auto in_guide = [&](float mean) {
    const double sum = static_cast<double>(mean) * (patch * patch) * scale * scale;
    constexpr double most = 1 << 22;
    return static_cast<std::int32_t>(std::clamp(sum, -most, most));
  };
  limit = in_guide(params.tau);
  bonus = in_guide(params.place_bonus);
  biased = params.bias != nullptr;
  if (biased)
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = in_guide((*params.bias)[i]);
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
  members_.resize(offset);
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
  scratch.resize(count);

  struct Node {
    std::size_t begin, count;
    int level;
  };
  std::vector<Node> nodes{{begin, count, 0}};
  const int features = features_of(params_.cell);
  while (!nodes.empty()) {
    const Node node = nodes.back();
    nodes.pop_back();
    if (node.count <= static_cast<std::size_t>(params_.leaf)) {
      keep(tiling, node.begin, node.count);
      continue;
    }
    const std::span<std::uint32_t> patches(members_.data() + node.begin, node.count);
    std::size_t first = 0;
    if (node.level < cut_levels) {
      std::array<std::uint8_t, cut_samples * max_features> samples;
      for (int i = 0; i < cut_samples; ++i)
        space.features(patches[cut_sample(i, static_cast<int>(node.count))],
                       samples.data() + i * features);
      if (const auto cut = find_cut(samples, features))
        first = space.divide(patches, *cut, scratch.data());
    }
    if (first == 0 || first == node.count) first = node.count / 2;
    nodes.push_back({node.begin, first, node.level + 1});
    nodes.push_back({node.begin + first, node.count - first, node.level + 1});
  }
}

}  // namespace lull
