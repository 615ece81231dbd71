#pragma once
// Which voxels of a volume are wanted, as a file says.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/denoiser.h"
#include "core/slices.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The masks of the slices of a volume, which is one for all of a series, or of a whole series.
struct VolumeMask {
  std::vector<std::shared_ptr<const SliceMask>> slices;
  bool series = false;
  std::int64_t inside = 0;  // voxels
  float zero = 0;           // the sample that stands for the value 0 (of float samples)

  /// @throws BadData  there is no such slice
  [[nodiscard]] const std::shared_ptr<const SliceMask>& of(const Frame& slice) const;
};

/// The mask for the slices of `source`: voxels are inside where the file's value is a number other
/// than 0. `options`: those that `source` was opened with.
/// @throws NoInput, BadData as io::open_source(); BadData  it is of another size, or nothing is
///         inside; InvalidArgument  it is no stack
[[nodiscard]] VolumeMask read_mask(const std::string& path, const io::MediaSource& source,
                                   const io::SourceOptions& options, bool zero_outside);

/// That of the options' file, if there is one.
/// @throws as read_mask(); InvalidArgument  there is one although the frames are no slices
[[nodiscard]] std::optional<VolumeMask> given_mask(const DenoiseOptions& options,
                                                   const io::MediaSource& source);

/// Gives each slice its mask, which the session may look at, and puts back what was outside, or
/// zeros. Slices in flight are kept until their results are out.
[[nodiscard]] std::unique_ptr<Denoiser> masked(std::unique_ptr<Denoiser> denoiser, VolumeMask mask);

}  // namespace lull::tools
