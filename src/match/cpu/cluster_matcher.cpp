// Matching by clusters: those of all tiles are made before the first block, then each reference
// patch looks through its own.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
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

/// References of a block: estimates reach a tile beyond it on all sides.
constexpr BlockSize cluster_block{48, 12};
constexpr int rows_at_once = 32;  // of strips

/// The guides' patches in the order of PatchStrips.
class StripSpace final : public PatchSpace {
 public:
  /// From within the engine's arena.
  void fill(std::span<const GuideFrame> frames, const MatchParams& params) {
    const PlaneView<const float> own = frames[0].frame.samples;
    numbers_ = PatchNumbers(own.width, own.height);
    const std::size_t places = std::size_t{numbers_.frame} * frames.size();
    strips_ = {columns_.reserve(places * patch)};
    for (std::size_t f = 0; f < frames.size(); ++f) {
      to_bytes(frames[f].frame.samples, GuideBytes(params.range));
      const int last = own.height - patch + 1;
      tbb::parallel_for(0, (last + rows_at_once - 1) / rows_at_once, [&](int band) {
        const int first = band * rows_at_once, end = std::min(last, first + rows_at_once);
        fill_columns(static_cast<int>(f), first, end);
      });
    }
  }

  const PatchStrips& strips() const { return strips_; }

  void samples(std::uint32_t number, std::uint8_t* to) const override {
    std::copy_n(strips_.patch_at(number), patch_samples, to);
  }
  std::size_t divide(std::span<std::uint32_t> patches, const Cut& cut,
                     std::uint32_t* scratch) const override {
    return divide_patches(strips_, patches, cut, scratch);
  }

 private:
  void to_bytes(PlaneView<const float> guide, const GuideBytes& bytes) {
    const int row = numbers_.row;
    std::uint8_t* const to = bytes_.reserve(static_cast<std::size_t>(row) * (guide.height + 1));
    tbb::parallel_for(0, guide.height, [&](int y) {
      for (int x = 0; x < guide.width; ++x) to[y * row + x] = bytes(guide(x, y));
      if (row > guide.width) to[y * row + guide.width] = 0;
    });
  }
  const std::uint8_t* row_of(int y) const {
    return bytes_.data() + static_cast<std::size_t>(y) * numbers_.row;
  }

  void fill_columns(int frame, int first, int end) {
    std::uint64_t above[max_strip];
    for (int left = 0; left < numbers_.row; left += max_strip) {
      const int count = std::min(max_strip, numbers_.row - left);
      std::fill_n(above, count, 0);
      for (int y = first; y < first + patch - 1; ++y) push(row_of(y) + left, count, above);
      for (int y = first; y < end; ++y) {
        push(row_of(y + patch - 1) + left, count, above);
        std::copy_n(reinterpret_cast<const std::uint8_t*>(above), count * patch,
                    columns_.data() + std::size_t{numbers_.of(frame, left, y)} * patch);
      }
    }
  }
  static constexpr int max_strip = 256;  // an even number
  static void push(const std::uint8_t* samples, int count, std::uint64_t* columns) {
    for (int i = 0; i < count; ++i)
      columns[i] = columns[i] >> 8 | static_cast<std::uint64_t>(samples[i]) << 56;
  }

  PatchNumbers numbers_;
  PatchStrips strips_;
  Buffer<std::uint8_t> bytes_, columns_;
};

/// What a thread needs.
struct ClusterWorkspace {
  std::vector<std::uint32_t> scratch;
  Buffer<std::uint32_t> candidates;
  Buffer<std::int32_t> distances;
  std::int32_t likely = 0;
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
  }

  void begin_block(const Block&, int thread) override {
    ClusterWorkspace& work = workspaces_[thread];
    work.candidates.reserve(candidate_places);
    work.distances.reserve(candidate_places);
    work.likely = rules_->limit / 2;
  }

  void find(const Block& block, int row, int thread, std::span<Group> groups) override {
    ClusterWorkspace& work = workspaces_[thread];
    const int y = block.y + row * params_.step;
    for (int column = 0; column < block.columns; ++column)
      groups[column] = group_at(block.x + column * params_.step, y, work);
  }

 private:
  Group group_at(int x, int y, ClusterWorkspace& work) const {
    const PatchNumbers& numbers = clusters_.numbers();
    std::uint32_t* const candidates = work.candidates.data();
    std::int32_t* const distances = work.distances.data();
    Nearest nearest{numbers.of(0, x, y), params_.group - 1, rules_->limit, work.likely};
    if (nearest.wanted > 0) {
      int count = list_clusters(nearest.own, candidates);
      const int in_clusters = count;
      for (std::size_t f = 1; f < frames_.size(); ++f)
        if (const auto number = predicted(f, x, y)) candidates[count++] = *number;
      patch_distances(space_.strips(), nearest.own, candidates, count, distances);
      if (rules_->biased) add_bias(nearest.own, candidates, in_clusters, distances);
      count = take_bonus(candidates, in_clusters, count, distances);
      find_nearest(candidates, distances, count, nearest);
      work.likely = nearest.likely;
    }
    Group group;
    group.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(nearest.count + 1)));
    group.members[0] = pack_displacement(0, 0);
    for (int m = 1; m < group.count; ++m) {
      const PatchNumbers::Place place = numbers.place(nearest.patches[m - 1]);
      group.members[m] = pack_displacement(place.x - x, place.y - y, frames_[place.index].offset);
    }
    return group;
  }

  /// The patches of its clusters but for itself, each once.
  int list_clusters(std::uint32_t own, std::uint32_t* candidates) const {
    std::uint32_t* to = candidates;
    for (const std::uint32_t number : clusters_.leaf(0, own)) {
      *to = number;
      to += number != own ? 1 : 0;
    }
    for (int k = 1; k < clusters_.tilings(); ++k) {
      const auto leaf = clusters_.leaf(k, own);
      const std::uint32_t* from = leaf.data();
      std::size_t count = leaf.size();
      for (int before = 0; before < k; ++before) {
        const std::uint32_t* const leaf_of = clusters_.leaf_of(before);
        const std::uint32_t known = leaf_of[own];
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint32_t number = from[i];
          to[kept] = number;
          kept += leaf_of[number] != known ? 1 : 0;
        }
        from = to;
        count = kept;
      }
      to += count;
    }
    return static_cast<int>(to - candidates);
  }

  /// The patch of frame `f` of the list where motion leads, if it lies in the picture.
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

  /// From `predicted` on stand the patches where motion leads. Those that are in a cluster too go.
  int take_bonus(std::uint32_t* candidates, int predicted, int count,
                 std::int32_t* distances) const {
    int kept = predicted;
    for (int p = predicted; p < count; ++p) {
      const std::uint32_t number = candidates[p];
      const int at =
          static_cast<int>(std::find(candidates, candidates + predicted, number) - candidates);
      const int to = at < predicted ? at : kept++;
      candidates[to] = number;
      distances[to] = rules_->with_bonus(distances[p]);
    }
    return kept;
  }

  std::vector<ClusterWorkspace> workspaces_;  // one for each thread
  // Of the frame whose references are matched, from begin() on.
  MatchParams params_;
  std::span<const GuideFrame> frames_;
  MotionGrid grid_;
  std::optional<ClusterRules> rules_;
  StripSpace space_;
  Clusters clusters_;
};

/// Whichever a phase asks for.
class ChosenMatcher final : public Matcher {
 public:
  explicit ChosenMatcher(int threads) : threads_(threads) {}

  BlockSize block_size(const MatchParams& params, int columns) const override {
    return now_->block_size(params, columns);
  }
  void begin(const MatchInput& input) override {
    std::unique_ptr<Matcher>& matcher = input.params.clusters ? clusters_ : exhaustive_;
    if (matcher == nullptr)
      matcher = input.params.clusters ? make_cluster_matcher(threads_)
                                      : make_exhaustive_matcher(threads_);
    now_ = matcher.get();
    now_->begin(input);
  }
  void begin_block(const Block& block, int thread) override { now_->begin_block(block, thread); }
  void find(const Block& block, int row, int thread, std::span<Group> groups) override {
    now_->find(block, row, thread, groups);
  }

 private:
  int threads_;
  std::unique_ptr<Matcher> exhaustive_, clusters_;
  Matcher* now_ = nullptr;  // from begin() on
};

}  // namespace

std::unique_ptr<Matcher> make_cluster_matcher(int threads) {
  return std::make_unique<ClusterMatcher>(threads);
}
std::unique_ptr<Matcher> make_matcher(int threads) {
  return std::make_unique<ChosenMatcher>(threads);
}

}  // namespace lull::cpu
