// Clustered matching: makes the clusters of all tiles, and then compares reference patches with the
// members of their clusters.

#include <hwy/cache_control.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "match/clusters.h"
#include "match/cpu/cluster_kernels.h"
#include "match/cpu/matcher.h"
#include "match/motion_grid.h"

namespace lull::cpu {
namespace {

/// Number of reference patches in a block, along each axis. The members of a group may be outside
/// the block, up to one cluster tile (a square of patch positions) away. The estimates of these
/// members are also outside the block.
constexpr BlockSize cluster_block{48, 12};
constexpr int rows_at_once = 32;  // number of rows of strips that one task fills

/// The patches of the guides of all frames, stored as PatchStrips.
class StripSpace final : public PatchSpace {
 public:
  /// Stores the patches of `frames` in strips. The caller must run in the TBB arena of the engine.
  void fill(std::span<const GuideAt> frames, const MatchParams& params) {
    const PlaneView<const float> own = frames[0].frame.samples;
    numbers_ = PatchNumbers(own.width, own.height);
    constexpr int half = patch / 2;
    const std::size_t places = std::size_t{numbers_.frame} * frames.size();
    strips_ = {columns_.reserve(places * half), std::size_t{half} * half * numbers_.row};
    for (std::size_t f = 0; f < frames.size(); ++f) {
      to_bytes(frames[f].frame.samples, GuideBytes(params.range));
      const int last = own.height - half + 1;
      tbb::parallel_for(0, (last + rows_at_once - 1) / rows_at_once, [&](int band) {
        const int first = band * rows_at_once, end = std::min(last, first + rows_at_once);
        for (int y = first; y < end; ++y)
          fill_strips({row_of(y), row_of(y + 1), row_of(y + 2), row_of(y + 3)}, numbers_.row,
                      columns_.data() + std::size_t{numbers_.of(static_cast<int>(f), 0, y)} * half);
      });
    }
  }

  const PatchStrips& strips() const { return strips_; }

  void samples(std::uint32_t number, std::uint8_t* to) const override {
    to = std::copy_n(strips_.upper(number), patch_samples / 2, to);
    std::copy_n(strips_.lower(number), patch_samples / 2, to);
  }
  std::optional<Split> split(std::span<const std::uint32_t> patches) const override {
    return split_patches(strips_, patches);
  }
  std::size_t partition(std::span<std::uint32_t> patches, const Split& split,
                        std::uint32_t* scratch) const override {
    return partition_patches(strips_, patches, split, scratch);
  }

 private:
  void to_bytes(PlaneView<const float> guide, const GuideBytes& bytes) {
    const int row = numbers_.row;
    std::uint8_t* const to = bytes_.reserve(static_cast<std::size_t>(row) * guide.height);
    tbb::parallel_for(0, guide.height, [&](int y) {
      for (int x = 0; x < guide.width; ++x) to[y * row + x] = bytes(guide(x, y));
      std::fill(to + y * row + guide.width, to + (y + 1) * row, std::uint8_t{0});
    });
  }
  const std::uint8_t* row_of(int y) const {
    return bytes_.data() + static_cast<std::size_t>(y) * numbers_.row;
  }

  PatchNumbers numbers_;
  PatchStrips strips_;
  Buffer<std::uint8_t> bytes_, columns_;
};

using Leaves = std::array<LeafView, max_tilings>;

/// Memory of a thread.
struct ClusterWorkspace {
  std::vector<std::uint32_t> scratch;
  Buffer<std::uint32_t> candidates;
  Buffer<std::int32_t> distances;
  // The clusters of the current and of the next reference patch.
  std::array<Leaves, 2> leaves;
  Nearest nearest{};
};

class ClusterMatcher final : public Matcher {
 public:
  explicit ClusterMatcher(int threads) : workspaces_(threads) {}

  BlockSize block_size(const MatchParams&, int columns) const override {
    return {std::min(cluster_block.columns, columns), cluster_block.rows};
  }

  void begin(const MatchInput& input) override {
    params_ = input.params;
    frames_ = input.frames;
    const PlaneView<const float> own = frames_[0].frame.samples;
    grid_ = {own.width, own.height, params_.step};
    rules_.emplace(params_);
    space_.fill(frames_, params_);
    clusters_.plan(own.width, own.height, static_cast<int>(frames_.size()), *params_.clusters);
    tbb::parallel_for(0, clusters_.tiles(), [&](int tile) {
      clusters_.make(tile, space_,
                     workspaces_[tbb::this_task_arena::current_thread_index()].scratch);
    });
    relate_tilings();
  }

  void begin_block(const Block&, int thread) override {
    ClusterWorkspace& work = workspaces_[thread];
    work.candidates.reserve(candidate_places);
    work.distances.reserve(candidate_places);
    work.nearest.wanted = params_.group - 1;
    work.nearest.limit = rules_->limit;
  }

  void find(const Block& block, int row, int thread, std::span<Group> groups) override {
    ClusterWorkspace& work = workspaces_[thread];
    const int y = block.y + row * params_.step;
    look_up(block.x, y, work.leaves[0]);
    for (int column = 0; column < block.columns; ++column) {
      const int x = block.x + column * params_.step;
      // Clusters lie at scattered addresses, so the matcher prefetches the clusters of the next
      // reference patch.
      if (column + 1 < block.columns) look_up(x + params_.step, y, work.leaves[(column + 1) % 2]);
      find_group(x, y, work.leaves[column % 2], work, groups[column]);
    }
  }

 private:
  /// A patch belongs to one cluster in each tiling (division into tiles). For each patch in the
  /// clusters of a tiling, the function stores the identifiers of the clusters to which this patch
  /// belongs in the preceding tilings.
  void relate_tilings() {
    const std::size_t count = clusters_.members(0).size();
    constexpr std::size_t at_once = 1 << 14;
    for (int k = 1; k < clusters_.tilings(); ++k)
      for (int earlier = 0; earlier < k; ++earlier) {
        std::uint32_t* const names = earlier_leaf_ids_[k][earlier].reserve(count + member_padding);
        const std::uint32_t* const leaf_of = clusters_.leaf_of(earlier);
        const auto members = clusters_.members(k);
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, at_once),
                          [=](const auto& part) {
                            for (std::size_t i = part.begin(); i < part.end(); ++i)
                              names[i] = leaf_of[members[i]];
                          });
      }
  }

  void find_group(int x, int y, const Leaves& leaves, ClusterWorkspace& work, Group& group) const {
    const PatchNumbers& numbers = clusters_.numbers();
    const std::uint32_t own = numbers.of(0, x, y);
    group.count = 1;
    group.members[0] = pack_displacement(0, 0);
    if (params_.group == 1) return;
    find_nearest_of(own, x, y, leaves, work);
    const Nearest& nearest = work.nearest;
    group.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(nearest.count + 1)));
    if (frames_.size() == 1) {
      std::array<std::uint32_t, max_group> packed;
      pack_displacements(own, numbers.row, nearest.patches.data(), group.count - 1, packed.data());
      std::copy_n(packed.begin(), group.count - 1, group.members.begin() + 1);
      return;
    }
    for (int m = 1; m < group.count; ++m) {
      const PatchNumbers::Place place = numbers.place(nearest.patches[m - 1]);
      group.members[m] = pack_displacement(place.x - x, place.y - y, frames_[place.index].offset);
    }
  }

  void find_nearest_of(std::uint32_t own, int x, int y, const Leaves& leaves,
                       ClusterWorkspace& work) const {
    std::uint32_t* const candidates = work.candidates.data();
    std::int32_t* const distances = work.distances.data();
    int count = list_candidates({leaves.data(), static_cast<std::size_t>(clusters_.tilings())}, own,
                                candidates);
    const int in_clusters = count;
    for (std::size_t f = 1; f < frames_.size(); ++f)
      if (const auto number = predicted(f, x, y)) candidates[count++] = *number;
    std::fill_n(candidates + count, member_padding, own);
    patch_distances(space_.strips(), own, candidates, count, distances);
    if (rules_->biased) add_bias(own, candidates, in_clusters, distances);
    count = apply_motion_bias(candidates, in_clusters, count, distances);
    find_nearest(candidates, distances, count, work.nearest);
  }

  void look_up(int x, int y, Leaves& leaves) const {
    const std::uint32_t own = clusters_.numbers().of(0, x, y);
    for (int k = 0; k < clusters_.tilings(); ++k) {
      LeafView& view = leaves[k];
      const auto leaf = clusters_.leaf(k, own);
      view.members = leaf.data();
      view.count = static_cast<int>(leaf.size());
      view.leaf_id = clusters_.leaf_of(k)[own];
      prefetch(view.members);
      const auto from = leaf.data() - clusters_.members(k).data();
      for (int earlier = 0; earlier < k; ++earlier) {
        view.earlier[earlier] = earlier_leaf_ids_[k][earlier].data() + from;
        prefetch(view.earlier[earlier]);
      }
    }
  }
  /// Prefetches the first 48 members of a cluster. By default, a cluster has at most 48 members.
  static void prefetch(const std::uint32_t* members) {
    for (int i = 0; i < 48; i += 16) hwy::Prefetch(members + i);
  }

  /// Returns the index of the patch in frame `f` to which the motion vector of the reference patch
  /// at (x, y) points. Returns std::nullopt if this patch is not completely inside the picture.
  std::optional<std::uint32_t> predicted(std::size_t f, int x, int y) const {
    const GuideView& frame = frames_[f].frame;
    const Motion motion = frame.motion.empty() ? Motion{} : frame.motion[grid_.bundle_at(x, y)];
    const int u = x + motion.x, v = y + motion.y;
    if (u < 0 || v < 0 || u > grid_.width - patch || v > grid_.height - patch) return std::nullopt;
    return clusters_.numbers().of(static_cast<int>(f), u, v);
  }

  void add_bias(std::uint32_t own, const std::uint32_t* candidates, int count,
                std::int32_t* distances) const {
    const PatchNumbers& numbers = clusters_.numbers();
    const PatchNumbers::Place at = numbers.place(own);
    for (int i = 0; i < count; ++i) {
      const PatchNumbers::Place place = numbers.place(candidates[i]);
      if (place.index == 0)
        distances[i] = rules_->with_bias(distances[i], place.x - at.x, place.y - at.y);
    }
  }

  /// The elements of `candidates` from index `predicted` on are the patches to which motion vectors
  /// point. The function subtracts MatchParams::motion_bias from their distances, and removes
  /// duplicates. Returns the number of remaining candidates.
  int apply_motion_bias(std::uint32_t* candidates, int predicted, int count,
                        std::int32_t* distances) const {
    int kept = predicted;
    for (int p = predicted; p < count; ++p) {
      const std::uint32_t number = candidates[p];
      const int at =
          static_cast<int>(std::find(candidates, candidates + predicted, number) - candidates);
      const int to = at < predicted ? at : kept++;
      candidates[to] = number;
      distances[to] = rules_->with_motion_bias(distances[p]);
    }
    return kept;
  }

  std::vector<ClusterWorkspace> workspaces_;  // one element for each thread
  // begin() sets these data of the current reference frame.
  MatchParams params_;
  std::span<const GuideAt> frames_;
  MotionGrid grid_;
  std::optional<ClusterRules> rules_;
  StripSpace space_;
  Clusters clusters_;
  // A tiling is a division into tiles. For two tilings t < k, the element [k][t][i] is the
  // identifier of a cluster in tiling t: the cluster that contains the patch
  // clusters_.members(k)[i].
  std::array<std::array<Buffer<std::uint32_t>, max_tilings - 1>, max_tilings> earlier_leaf_ids_;
};

/// Runs the cluster matcher if MatchParams::clusters has a value, and the exhaustive matcher if
/// not.
class DispatchingMatcher final : public Matcher {
 public:
  DispatchingMatcher(int threads, const std::shared_ptr<GuideMemory>& memory)
      : threads_(threads), memory_(memory) {}

  BlockSize block_size(const MatchParams& params, int columns) const override {
    return now_->block_size(params, columns);
  }
  void begin(const MatchInput& input) override {
    std::unique_ptr<Matcher>& matcher = input.params.clusters ? clusters_ : exhaustive_;
    if (matcher == nullptr)
      matcher = input.params.clusters ? make_cluster_matcher(threads_)
                                      : make_exhaustive_matcher(threads_, memory_);
    now_ = matcher.get();
    now_->begin(input);
  }
  void begin_block(const Block& block, int thread) override { now_->begin_block(block, thread); }
  void find(const Block& block, int row, int thread, std::span<Group> groups) override {
    now_->find(block, row, thread, groups);
  }

 private:
  int threads_;
  std::shared_ptr<GuideMemory> memory_;
  std::unique_ptr<Matcher> exhaustive_, clusters_;
  Matcher* now_ = nullptr;  // valid after begin()
};

}  // namespace

std::unique_ptr<Matcher> make_cluster_matcher(int threads) {
  return std::make_unique<ClusterMatcher>(threads);
}
std::unique_ptr<Matcher> make_matcher(int threads, const std::shared_ptr<GuideMemory>& memory) {
  return std::make_unique<DispatchingMatcher>(threads, memory);
}

}  // namespace lull::cpu
