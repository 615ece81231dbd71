// Stores the 8-bit guide as pairs or quads of samples (PhasedGuide). The code does not use SIMD,
// because its share of the run time is small.

#include <algorithm>
#include <cstring>

#include "match/cpu/kernels.h"

namespace lull::cpu {
namespace {

/// Fills a row of a guide whose elements contain several samples, one byte each.
template <class Element>
void phased_row(std::span<const float> samples, const Quantiser& quantiser,
                const PhasedRow<Element>& row) {
  const int width = static_cast<int>(samples.size());
  const int count = row.elements * row.step + static_cast<int>(sizeof(Element)) - 1;
  const int first = row.first_element * row.step;  // x of bytes[0], <= 0
  std::int8_t* const picture = row.bytes - first;
  byte_row(samples.first(std::min(width, first + count)), quantiser, picture);
  std::fill(row.bytes, picture, picture[0]);
  if (first + count > width) std::fill(picture + width, row.bytes + count, picture[width - 1]);

  for (int m = 0; m < row.step; ++m) {
    Element* const out = row.to + m * row.phase_stride;
    const std::int8_t* const in = row.bytes + m;
    for (int i = 0; i < row.elements; ++i) std::memcpy(out + i, in + i * row.step, sizeof(Element));
  }
}

}  // namespace

void pair_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::uint16_t>& row) {
  phased_row(samples, quantiser, row);
}
void quad_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::int32_t>& row) {
  phased_row(samples, quantiser, row);
}

}  // namespace lull::cpu
