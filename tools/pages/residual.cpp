#include "tools/pages/residual.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>

namespace lull::tools {
namespace {

constexpr int side = 8;  // side of a block in samples
constexpr int reach = correlation_reach;
constexpr int near = 2;  // maximum lag for the comparison of flat and textured blocks, in samples
// Number of lags (dx, dy) with dy >= 0. The other lags need no sums, because the correlation at
// (-dx, -dy) is equal to the correlation at (dx, dy).
constexpr int lags = (reach + 1) * correlation_lags;

int half_index(int dx, int dy) { return dy * correlation_lags + dx + reach; }

struct Block {
  int x = 0, y = 0;  // position in blocks
  double squares = 0, relative = 0, gradient = 0;
};

/// The valid samples of a part of the residual. All other samples, including a border around the
/// part, are 0, so sums over all lags need no border checks.
class Residual {
 public:
  explicit Residual(const ResidualPart& part)
      : part_(part),
        columns_(part.before.width / side),
        rows_(part.before.height / side),
        width_(columns_ * side),
        height_(rows_ * side),
        stride_((width_ + 2 * reach + 15) / 16 * 16),
        values_(static_cast<std::size_t>(stride_) * (height_ + reach + 1)),
        weights_(values_.size()) {
    for (int by = 0; by < rows_; ++by)
      for (int bx = 0; bx < columns_; ++bx)
        if (counts(bx, by)) add_block(bx, by);
    centre();
  }

  std::vector<Block>& blocks() { return blocks_; }

  /// Adds, for each lag up to `max_lag` along x and y, the products of all pairs of samples at this
  /// lag.
  void add_products(int max_lag, std::vector<double>& products, std::vector<double>& pairs) const {
    products.resize(lags), pairs.resize(lags);
    for (int dy = 0; dy <= max_lag; ++dy)
      for (int dx = dy == 0 ? 0 : -max_lag; dx <= max_lag; ++dx) {
        products[half_index(dx, dy)] += sum(values_, dx, dy);
        pairs[half_index(dx, dy)] += sum(weights_, dx, dy);
      }
  }

  /// Returns a copy of the residual in which only the samples of the given blocks are valid.
  Residual restricted_to(std::span<const Block> blocks) const {
    Residual part = *this;
    std::ranges::fill(part.values_, 0.0f);
    std::ranges::fill(part.weights_, 0.0f);
    for (const Block& block : blocks)
      for (int y = block.y * side; y < (block.y + 1) * side; ++y) {
        const std::size_t first = at(block.x * side, y);
        std::copy_n(&values_[first], side, &part.values_[first]);
        std::copy_n(&weights_[first], side, &part.weights_[first]);
      }
    return part;
  }

 private:
  /// Returns whether the statistics include a block. The statistics omit blocks with masked
  /// samples, and constant blocks, such as a black border without noise.
  bool counts(int bx, int by) const {
    const float first = part_.before(bx * side, by * side);
    bool varies = false;
    for (int y = by * side; y < (by + 1) * side; ++y)
      for (int x = bx * side; x < (bx + 1) * side; ++x) {
        if (part_.counts(x, y) == 0) return false;
        varies |= part_.before(x, y) != first;
      }
    return varies;
  }

  /// Returns the squared gradient of the denoised result.
  double gradient(int x, int y) const {
    const PlaneView<const float>& after = part_.after;
    const int left = std::max(x - 1, 0), right = std::min(x + 1, after.width - 1);
    const int above = std::max(y - 1, 0), below = std::min(y + 1, after.height - 1);
    const float gx = after(right, y) - after(left, y), gy = after(x, below) - after(x, above);
    return static_cast<double>(gx * gx + gy * gy);
  }

  void add_block(int bx, int by) {
    Block block{.x = bx, .y = by};
    for (int y = by * side; y < (by + 1) * side; ++y)
      for (int x = bx * side; x < (bx + 1) * side; ++x) {
        const float removed = part_.before(x, y) - part_.after(x, y);
        values_[at(x, y)] = removed;
        weights_[at(x, y)] = 1;
        const auto square = static_cast<double>(removed * removed);
        const auto level = static_cast<double>(part_.level(x, y));
        block.squares += square;
        block.relative += square / (level * level);
        block.gradient += gradient(x, y) / (level * level);
      }
    for (double* sum : {&block.squares, &block.relative, &block.gradient}) *sum /= side * side;
    blocks_.push_back(block);
  }

  /// Subtracts the mean of the residual, because a mean other than 0 would appear as correlation.
  void centre() {
    if (blocks_.empty()) return;
    const double total = std::accumulate(values_.begin(), values_.end(), 0.0);
    const auto mean = static_cast<float>(
        total / (static_cast<double>(blocks_.size()) * static_cast<double>(side * side)));
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] -= mean * weights_[i];
  }

  std::size_t at(int x, int y) const { return static_cast<std::size_t>(y) * stride_ + x + reach; }

  /// Returns the sum of the products of values at the lag (dx, dy), in a fixed order for
  /// deterministic results.
  double sum(const std::vector<float>& of, int dx, int dy) const {
    constexpr int lanes = 8;
    double total = 0;
    for (int y = 0; y + dy < height_; ++y) {
      const float* row = &of[at(0, y)];
      const float* shifted = &of[at(0, y + dy)] + dx;
      float lane[lanes] = {};
      for (int x = 0; x < width_; x += lanes)
        for (int k = 0; k < lanes; ++k) lane[k] += row[x + k] * shifted[x + k];
      for (const float part : lane) total += static_cast<double>(part);
    }
    return total;
  }

  const ResidualPart& part_;
  int columns_, rows_, width_, height_, stride_;
  std::vector<float> values_, weights_;
  std::vector<Block> blocks_;
};

/// Returns the autocorrelation of the residual at the lag with the index `lag`: the covariance
/// divided by the variance. Returns 0 if there are no pairs of valid samples, or if the variance is
/// 0.
double correlation_in(const std::vector<double>& products, const std::vector<double>& pairs,
                      int lag) {
  const int itself = half_index(0, 0);
  const bool known = pairs[lag] > 0 && pairs[itself] > 0 && products[itself] > 0;
  return known ? products[lag] / pairs[lag] / (products[itself] / pairs[itself]) : 0;
}

std::string text(const char* format, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

}  // namespace

void ResidualSums::add(const ResidualPart& part) {
  Residual residual(part);
  std::vector<Block>& blocks = residual.blocks();
  if (blocks.empty()) return;
  ++pictures_;
  blocks_ += static_cast<std::int64_t>(blocks.size());
  for (const Block& block : blocks) squares_ += block.squares, relative_ += block.relative;
  residual.add_products(reach, products_, pairs_);
  std::ranges::stable_sort(blocks, {}, &Block::gradient);
  const std::size_t flat = (blocks.size() + 1) / 2, textured = (blocks.size() + 9) / 10;
  flat_ += static_cast<std::int64_t>(flat), textured_ += static_cast<std::int64_t>(textured);
  for (std::size_t i = 0; i < flat; ++i) flat_relative_ += blocks[i].relative;
  for (std::size_t i = blocks.size() - textured; i < blocks.size(); ++i)
    textured_relative_ += blocks[i].relative;
  const std::span<const Block> sorted(blocks);
  residual.restricted_to(sorted.first(flat))
      .add_products(near, flat_near_.products, flat_near_.pairs);
  residual.restricted_to(sorted.last(textured))
      .add_products(near, textured_near_.products, textured_near_.pairs);
}

ResidualFindings ResidualSums::findings() const {
  ResidualFindings found{.pictures = pictures_, .blocks = blocks_};
  if (blocks_ == 0) return found;
  const auto count = static_cast<double>(blocks_);
  found.rms = std::sqrt(squares_ / count);
  found.level = std::sqrt(relative_ / count);
  if (flat_relative_ > 0)
    found.edges = std::sqrt(textured_relative_ / static_cast<double>(textured_) /
                            (flat_relative_ / static_cast<double>(flat_)));
  for (int dy = 0; dy <= reach; ++dy)
    for (int dx = dy == 0 ? 0 : -reach; dx <= reach; ++dx) {
      const auto value = static_cast<float>(correlation_in(products_, pairs_, half_index(dx, dy)));
      found.correlation[lag_index(dx, dy)] = found.correlation[lag_index(-dx, -dy)] = value;
    }
  found.edge_correlation_excess = -1;
  for (int dy = 0; dy <= near; ++dy)
    for (int dx = dy == 0 ? 1 : -near; dx <= near; ++dx) {
      const int lag = half_index(dx, dy);
      found.edge_correlation_excess =
          std::max(found.edge_correlation_excess,
                   correlation_in(textured_near_.products, textured_near_.pairs, lag) -
                       correlation_in(flat_near_.products, flat_near_.pairs, lag));
    }
  return found;
}

namespace {

ResidualReason check_white_correlation(const ResidualFindings& found, const PlaneNoise& expected) {
  constexpr double limit = 0.06;
  double alike = -1;
  int at_x = 0, at_y = 0;
  for (int dy = 0; dy <= reach; ++dy)
    for (int dx = dy == 0 ? 1 : -reach; dx <= reach; ++dx) {
      const double more = static_cast<double>(found.correlation[lag_index(dx, dy)]) -
                          expected.correlation_at(dx, dy);
      if (more > alike) alike = more, at_x = dx, at_y = dy;
    }
  return {"Are neighbours more correlated than those of white noise?",
          text("by %.3f", alike) + " at most, " + std::to_string(at_x) + ", " +
              std::to_string(at_y) + " samples apart",
          text("%.2f", limit), alike <= limit};
}

ResidualReason check_edge_correlation(const ResidualFindings& found) {
  constexpr double limit = 0.12;
  return {"Are neighbours at edges more correlated than elsewhere?",
          text("by %.3f", found.edge_correlation_excess), text("%.2f", limit),
          found.edge_correlation_excess <= limit};
}

ResidualReason check_edge_strength(const ResidualFindings& found) {
  constexpr double limit = 1.05;
  return {"Was more removed at edges than in flat areas?", text("%.2f times as much", found.edges),
          text("%.2f", limit), found.edges <= limit};
}

ResidualReason check_level(const ResidualFindings& found) {
  constexpr double limit = 1.1;
  return {"Was more removed than the estimated noise?", text("%.2f times its level", found.level),
          text("%.2f", limit), found.level <= limit};
}

}  // namespace

ResidualVerdict assess_residual(const ResidualFindings& found, const PlaneNoise& expected,
                                NoiseOrigin origin) {
  using Answer = ResidualVerdict::Answer;
  constexpr std::int64_t min_blocks = 100;
  if (found.blocks < min_blocks)
    return {.why = found.blocks == 0 ? "nothing was measured" : "too few samples were measured"};
  if (!(found.rms > 0)) return {.why = "nothing was removed"};
  const bool white = expected.is_white() && origin != NoiseOrigin::assumed;
  const ResidualReason alike =
      white ? check_white_correlation(found, expected) : check_edge_correlation(found);
  const ResidualReason edges = check_edge_strength(found);
  ResidualVerdict verdict{.answer = Answer::yes, .reasons = {alike, edges}};
  bool level = true;
  if (origin != NoiseOrigin::stated) {
    verdict.reasons.push_back(check_level(found));
    level = verdict.reasons.back().passed;
  }
  if (!alike.passed || !level || (white && !edges.passed)) {
    verdict.answer = Answer::no;
  } else if (!edges.passed) {
    verdict.answer = Answer::cannot_tell;
    verdict.why =
        "the noise is not white, and such noise may be stronger at edges itself: look at "
        "the pictures";
  }
  return verdict;
}

}  // namespace lull::tools
