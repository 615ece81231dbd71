#include "io/zarr/zarr_pyramid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "io/zarr/zarr_planes.h"

namespace lull::io {
namespace {

/// Divides the samples along an axis of a pyramid level into blocks. Each block becomes one sample
/// of the next level, which has fewer samples.
class Blocks {
 public:
  /// @param before  number of samples along the axis
  /// @param after   number of blocks, which are samples of the next level; at most `before`
  Blocks(std::int64_t before, std::int64_t after) : before_(before), after_(after) {
    const std::int64_t factor = (before + after / 2) / after;
    const bool is_regular = before / factor == after || (before + factor - 1) / factor == after;
    factor_ = is_regular ? factor : 0;
  }
  std::int64_t begin(std::int64_t i) const {
    return factor_ > 0 ? i * factor_ : i * before_ / after_;
  }
  /// Returns the end of the block `i`. If the blocks have the size `factor_`, the last block may be
  /// smaller, or some samples after the last block belong to no block.
  std::int64_t end(std::int64_t i) const {
    return factor_ > 0 ? std::min((i + 1) * factor_, before_) : (i + 1) * before_ / after_;
  }

 private:
  std::int64_t before_, after_;
  std::int64_t factor_;  // size of the blocks; 0: the sizes differ
};

Blocks blocks_along(ZarrAxis axis, const ZarrLevel& from, const ZarrLevel& to) {
  return {from.size_of(axis), to.size_of(axis)};
}

/// Computes the means of the finite samples in the blocks that become one plane.
class PlaneMeans {
 public:
  PlaneMeans(const ZarrLevel& from, const ZarrLevel& to)
      : x_(blocks_along(ZarrAxis::x, from, to)),
        y_(blocks_along(ZarrAxis::y, from, to)),
        from_width_(from.size_of(ZarrAxis::x)),
        width_(to.size_of(ZarrAxis::x)),
        height_(to.size_of(ZarrAxis::y)),
        sums_(static_cast<std::size_t>(width_ * height_)),
        counts_(sums_.size()) {}

  void clear() {
    std::ranges::fill(sums_, 0);
    std::ranges::fill(counts_, 0);
  }
  void add(const std::vector<double>& plane) {
    std::size_t at = 0;
    for (std::int64_t y = 0; y < height_; ++y)
      for (std::int64_t x = 0; x < width_; ++x, ++at)
        for (std::int64_t row = y_.begin(y); row < y_.end(y); ++row)
          for (std::int64_t column = x_.begin(x); column < x_.end(x); ++column) {
            const double value = plane[static_cast<std::size_t>(row * from_width_ + column)];
            if (!std::isfinite(value)) continue;
            sums_[at] += value;
            ++counts_[at];
          }
  }
  /// Returns the means; NaN for blocks without finite samples. The list is valid until the next
  /// call of a member function.
  const std::vector<double>& means() {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i] = counts_[i] > 0 ? sums_[i] / static_cast<double>(counts_[i])
                                : std::numeric_limits<double>::quiet_NaN();
    return sums_;
  }

 private:
  Blocks x_, y_;
  std::int64_t from_width_, width_, height_;
  std::vector<double> sums_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

void check_pyramid(const ZarrImage& image) {
  for (std::size_t i = 1; i < image.levels.size(); ++i) {
    const ZarrLevel &from = image.levels[i - 1], &to = image.levels[i];
    const auto fail = [&](const std::string& what) {
      throw BadData("'" + to.array.folder + "' has " + what +
                    " than the level before (a pyramid has smaller copies of one image); check the "
                    "store");
    };
    if (from.size_of(ZarrAxis::time) != to.size_of(ZarrAxis::time)) fail("other time points");
    if (from.size_of(ZarrAxis::channel) != to.size_of(ZarrAxis::channel)) fail("other channels");
    for (const ZarrAxis axis : {ZarrAxis::z, ZarrAxis::y, ZarrAxis::x})
      if (to.size_of(axis) > from.size_of(axis)) fail("more samples along an axis");
  }
}

void write_level(OutputFolder& output, const ZarrLevel& from, const ZarrLevel& to,
                 const ZarrArray* input, const std::string& scratch) {
  ZarrPlaneReader reader(from);
  ZarrPlaneWriter writer(output, to, input, scratch);
  PlaneMeans means(from, to);
  const Blocks z_blocks = blocks_along(ZarrAxis::z, from, to);
  const StoredFormat from_format{.type = from.array.samples.type},
      to_format{.type = to.array.samples.type};
  std::vector<std::byte> stored, result(to.plane_bytes());
  std::vector<double> values;
  PlaneIndex plane;
  for (plane.channel = 0; plane.channel < to.size_of(ZarrAxis::channel); ++plane.channel)
    for (plane.time = 0; plane.time < to.size_of(ZarrAxis::time); ++plane.time)
      for (std::int64_t z = 0; z < to.size_of(ZarrAxis::z); ++z) {
        means.clear();
        for (plane.z = z_blocks.begin(z); plane.z < z_blocks.end(z); ++plane.z) {
          reader.read(plane, stored);
          load_values(stored, from_format, values);
          means.add(values);
        }
        store_values(means.means(), to_format, result);
        writer.write(result);
      }
  writer.finish();
}

}  // namespace lull::io
