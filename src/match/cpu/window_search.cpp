#include "match/cpu/window_search.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>

#include "match/cpu/score_plan.h"

namespace lull::cpu {
namespace {

// Maximum memory for the scores of a block, in bytes. The scores then fit in the second-level cache
// of a core plus the core's share of the third-level cache.
constexpr std::size_t scores_budget = 1 << 20;
// Maximum memory for the samples that the kernel reads for one displacement, in bytes. The samples
// then fit in the first-level cache.
constexpr int samples_budget = 28 << 10;
constexpr int max_block_rows = 8;
constexpr int norm_rows = 64;  // number of rows that one call of fill_norms() computes

/// Chooses the number of reference patches in a row of a block, so that few lanes are unused.
/// `count` is the number of reference patches in a row of the picture.
int columns_per_block(int count, int step) {
  const int most = max_lanes - extra_lanes(step);
  int best = std::min(count, most), best_cost = 1 << 30;
  for (int blocks = (count + most - 1) / most; blocks <= count; ++blocks) {
    const int columns = (count + blocks - 1) / blocks;
    const int cost = blocks * lanes_of(columns, step);
    if (cost < best_cost) best = columns, best_cost = cost;
    if (columns < lane_multiple / 2) break;
  }
  return best;
}

std::size_t scores_size(const MatchParams& params, const Block& block) {
  return static_cast<std::size_t>(block.rows) * params.window * params.window *
         lanes_of(block.columns, params.step);
}

int rows_per_block(const MatchParams& params, int columns) {
  const std::size_t row_scores = scores_size(params, {0, 0, columns, 1}) * sizeof(std::uint16_t);
  const int by_scores = static_cast<int>(scores_budget / row_scores);
  const int sample_row = 2 * plan_for(params.step).phases * lanes_of(columns, params.step) * 2;
  const int by_samples = (samples_budget / sample_row - patch) / params.step + 1;
  return std::clamp(std::min(by_scores, by_samples), 1, max_block_rows);
}

}  // namespace

WindowSearch::WindowSearch(int threads, const std::shared_ptr<GuideMemory>& memory)
    : threads_(threads), workspaces_(threads), memory_(memory) {}

BlockSize WindowSearch::block_size(const MatchParams& params, int columns) {
  const int wide = columns_per_block(columns, params.step);
  return {wide, rows_per_block(params, wide)};
}

void WindowSearch::begin(const MatchParams& params, std::span<const GuideAt> frames,
                         const Quantiser& quantiser) {
  params_ = params;
  frames_ = frames;
  const PlaneView<const float> guide = frames[0].frame.samples;
  own_geometry_ = {guide.width, guide.height, params_.window};
  temporal_geometry_ = {guide.width, guide.height, params_.temporal_window};
  grid_ = {guide.width, guide.height, params_.step};
  list_displacements();
  set_limits(scores_per_distance(quantiser));
  prepare_guides(quantiser);
}

void WindowSearch::begin_block(const Block& block, int thread) {
  Workspace& work = workspaces_[thread];
  work.rankings.assign(block.columns, {});
  work.keys.reserve(select_scratch_size);
  if (!searches_own_frame()) return;
  const int lanes = lanes_of(block.columns, params_.step);
  const int classes = 2 * params_.group;
  work.scores = {work.values.reserve(scores_size(params_, block)),
                 work.minima.reserve(static_cast<std::size_t>(block.rows) * classes * lanes),
                 work.sums.reserve(sums_size(block.rows, lanes)),
                 work.outside.reserve(static_cast<std::size_t>(params_.window + 1) * lanes),
                 lanes,
                 classes};
  const ScoreBias* const bias = params_.bias != nullptr ? &score_bias_ : nullptr;
  const PairedGuide* const invalid = frames_[0].frame.holes != nullptr ? &invalid_ : nullptr;
  if (by_products_)
    score_block_by_products(quads_, own_geometry_, block, work.scores, bias, invalid);
  else
    score_block(guide_, own_geometry_, block, work.scores, bias, invalid);
}

std::span<const Ranking> WindowSearch::rank(const Block& block, int row, int thread) {
  Workspace& work = workspaces_[thread];
  if (searches_own_frame())
    rank_candidates({params_.group, limit_, displacements_.data()}, own_geometry_, block,
                    params_.step, row, work.scores, {work.keys.data()}, work.rankings);
  if (!searches_other_frames()) return work.rankings;
  const int y = block.y + row * params_.step;
  for (int column = 0; column < block.columns; ++column) {
    const int x = block.x + column * params_.step;
    Ranking& ranking = work.rankings[column];
    if (!searches_own_frame()) ranking.count = 0;
    for (std::size_t f = 1; f < frames_.size(); ++f)
      rank_temporal_candidates({params_.group, limit_, motion_bias_, frames_[f].offset}, guides_[0],
                               guides_[f], temporal_geometry_, x, y,
                               motion_to(frames_[f].frame, x, y), ranking,
                               frames_[f].frame.holes != nullptr ? &frame_invalid_[f] : nullptr);
  }
  return work.rankings;
}

void WindowSearch::list_displacements() {
  const int window = params_.window, radius = own_geometry_.radius();
  displacements_.resize(static_cast<std::size_t>(window) * window);
  for (int c = 0; c < window * window; ++c)
    displacements_[c] = pack_displacement(c % window - radius, c / window - radius);
}

/// Converts the match threshold and the biases from distances to scores. A score is the product of
/// a distance and the factor `scores`.
void WindowSearch::set_limits(float scores) {
  limit_ = score_of(params_.tau, scores);
  motion_bias_ = rounded_score_of(params_.motion_bias, scores);
  if (params_.bias == nullptr) return;
  for (std::size_t i = 0; i < params_.bias->size(); ++i) {
    const float bias = (*params_.bias)[i];
    const std::uint16_t rounded = rounded_score_of(std::abs(bias), scores);
    score_bias_.added[i] = bias > 0 ? rounded : 0;
    score_bias_.subtracted[i] = bias < 0 ? rounded : 0;
  }
}

void WindowSearch::prepare_guides(const Quantiser& quantiser) {
  by_products_ = scores_by_products(params_.step);
  if (searches_own_frame()) {
    const PlaneView<const float> guide = frames_[0].frame.samples;
    if (by_products_)
      quads_ = prepare_quads(params_.step, own_geometry_.radius(), guide, quantiser);
    else
      guide_ =
          prepare_guide(params_.step, own_geometry_.radius(), guide, quantiser, memory_->pairs);
  }
  if (searches_own_frame() && frames_[0].frame.holes != nullptr)
    invalid_ = prepare_invalid(params_.step, own_geometry_.radius(), *frames_[0].frame.holes,
                               memory_->invalid_positions);
  if (!searches_other_frames()) return;
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    const GuideView& frame = frames_[f].frame;
    guides_[f] = prepare_guide(1, 0, frame.samples, quantiser, memory_->frame_pairs[f]);
    if (f > 0 && frame.holes != nullptr)
      frame_invalid_[f] = prepare_invalid(1, 0, *frame.holes, memory_->frame_invalid_positions[f]);
  }
}

WindowSearch::Arrangement WindowSearch::arrange(int step, int radius) const {
  Arrangement a{};
  a.before = (radius + step - 1) / step + 1;
  const int columns = (own_geometry_.width - patch) / step + 1;
  a.elements = a.before + columns + max_lanes + (radius + patch) / step + 2;
  a.rows = own_geometry_.height + 2 * radius + 2 * patch;
  a.phase_stride = round_up(a.elements, 32) + 32;
  // The row stride is an odd number of cache lines, so that the rows of a patch map to different
  // cache sets.
  a.row_stride = (a.phase_stride * step / 32 | 1) * 32;
  return a;
}

/// Returns the mask `invalid` of score_block(): positions of patches that overlap holes.
PairedGuide WindowSearch::prepare_invalid(int step, int radius, const Holes& holes,
                                          Buffer<std::uint16_t>& memory) const {
  const Arrangement a = arrange(step, radius);
  const std::size_t all = a.row_stride * a.rows;
  std::uint16_t* const places = memory.reserve(all);
  std::fill_n(places, all, std::uint16_t{0});
  std::uint16_t* const origin = places + radius * a.row_stride + a.before;
  for (int y = 0; y + patch <= own_geometry_.height; ++y)
    for (int x = 0; x + patch <= own_geometry_.width; ++x)
      if (holes.any_in(x, y, patch))
        origin[y * a.row_stride + x % step * a.phase_stride + x / step] = 0xffff;
  return {origin, a.row_stride, a.phase_stride, step};
}

PairedGuide WindowSearch::prepare_guide(int step, int radius, PlaneView<const float> guide,
                                        const Quantiser& quantiser, Buffer<std::uint16_t>& memory) {
  return fill_rows(arrange(step, radius), step, radius, guide, quantiser, memory);
}

QuadGuide WindowSearch::prepare_quads(int step, int radius, PlaneView<const float> guide,
                                      const Quantiser& quantiser) {
  const Arrangement a = arrange(step, radius);
  const auto quads = fill_rows(a, step, radius, guide, quantiser, memory_->quad_samples);
  std::int32_t* const norms = memory_->quad_norms.reserve(a.row_stride * a.rows);
  const int elements = static_cast<int>(round_up(a.elements, 16));
  tbb::parallel_for(tbb::blocked_range<int>(0, a.rows - patch + 1, norm_rows),
                    [&](const auto& range) {
                      const std::ptrdiff_t at = range.begin() * a.row_stride;
                      fill_norms(quads, memory_->quad_samples.data() + at,
                                 range.end() - range.begin(), elements, norms + at);
                    });
  const std::ptrdiff_t origin = quads.origin - memory_->quad_samples.data();
  return {quads, {norms + origin, a.row_stride, a.phase_stride, step}};
}

template <class Element>
PhasedGuide<Element> WindowSearch::fill_rows(const Arrangement& a, int step, int radius,
                                             PlaneView<const float> guide,
                                             const Quantiser& quantiser, Buffer<Element>& memory) {
  const std::size_t bytes =
      round_up(static_cast<std::size_t>(a.elements) * step + sizeof(Element) - 1, 64);
  Element* const elements = memory.reserve(a.row_stride * a.rows);
  std::int8_t* const scratch = memory_->row_bytes.reserve(bytes * threads_);
  tbb::parallel_for(tbb::blocked_range<int>(0, a.rows, 8), [&](const auto& range) {
    const int thread = tbb::this_task_arena::current_thread_index();
    for (int i = range.begin(); i < range.end(); ++i) {
      const int y = std::clamp(i - radius, 0, own_geometry_.height - 1);
      const PhasedRow<Element> row{
          elements + i * a.row_stride, a.phase_stride, -a.before, a.elements, step,
          scratch + thread * bytes};
      const std::span<const float> samples{guide.row(y),
                                           static_cast<std::size_t>(own_geometry_.width)};
      if constexpr (sizeof(Element) == 2)
        pair_row(samples, quantiser, row);
      else
        quad_row(samples, quantiser, row);
    }
  });
  return {elements + radius * a.row_stride + a.before, a.row_stride, a.phase_stride, step};
}

}  // namespace lull::cpu
