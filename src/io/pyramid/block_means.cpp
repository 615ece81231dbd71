#include "io/pyramid/block_means.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace lull::io {

Blocks::Blocks(std::int64_t before, std::int64_t after) : before_(before), after_(after) {
  const std::int64_t factor = std::max<std::int64_t>(1, (before + after / 2) / after);
  const bool is_regular = before / factor == after || (before + factor - 1) / factor == after;
  factor_ = is_regular ? factor : 0;
}

std::int64_t Blocks::begin(std::int64_t i) const {
  return factor_ > 0 ? i * factor_ : i * before_ / after_;
}

std::int64_t Blocks::end(std::int64_t i) const {
  return factor_ > 0 ? std::min((i + 1) * factor_, before_) : (i + 1) * before_ / after_;
}

PlaneMeans::PlaneMeans(const PlaneSize& from, const PlaneSize& to)
    : x_(from.width, to.width),
      y_(from.height, to.height),
      from_(from),
      to_(to),
      sums_(static_cast<std::size_t>(to.width * to.height)),
      counts_(sums_.size()) {}

void PlaneMeans::clear() {
  std::ranges::fill(sums_, 0);
  std::ranges::fill(counts_, 0);
}

void PlaneMeans::add(std::span<const std::byte> plane, const StoredFormat& format) {
  const std::size_t row_bytes =
      static_cast<std::size_t>(from_.width) * static_cast<std::size_t>(size_of(format.type));
  for (std::int64_t y = 0; y < to_.height; ++y)
    for (std::int64_t from_y = y_.begin(y); from_y < y_.end(y); ++from_y) {
      load_values(plane.subspan(static_cast<std::size_t>(from_y) * row_bytes, row_bytes), format,
                  row_);
      auto at = static_cast<std::size_t>(y * to_.width);
      for (std::int64_t x = 0; x < to_.width; ++x, ++at)
        for (std::int64_t from_x = x_.begin(x); from_x < x_.end(x); ++from_x) {
          const double value = row_[static_cast<std::size_t>(from_x)];
          if (!std::isfinite(value)) continue;
          sums_[at] += value;
          ++counts_[at];
        }
    }
}

const std::vector<double>& PlaneMeans::means() {
  for (std::size_t i = 0; i < sums_.size(); ++i)
    sums_[i] = counts_[i] > 0 ? sums_[i] / static_cast<double>(counts_[i])
                              : std::numeric_limits<double>::quiet_NaN();
  return sums_;
}

}  // namespace lull::io
