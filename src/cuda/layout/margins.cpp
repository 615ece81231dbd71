#include "cuda/layout/margins.h"

#include <string>

#include "core/error.h"

namespace lull {

void require_addressable(int width, int height, std::int64_t pitch, std::int64_t rows) {
  if (is_addressable(pitch, rows)) return;
  throw InvalidArgument("planes of " + std::to_string(width) + "x" + std::to_string(height) +
                        " samples on a GPU (its kernels address " +
                        std::to_string(max_plane_samples) + " samples with their padding, in " +
                        std::to_string(max_plane_rows) +
                        " rows, at most); choose the device cpu, or divide the picture");
}

}  // namespace lull
