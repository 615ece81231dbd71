#pragma once
// Reads masks of volumes, which select the voxels that are denoised.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/denoiser.h"
#include "core/slices.h"
#include "io/media.h"
#include "tools/options/input_options.h"

namespace lull::tools {

/// The masks of slices: a single volume, which applies to all volumes of a series, or a complete
/// series.
struct VolumeMask {
  std::vector<std::shared_ptr<const SliceMask>> slices;
  bool series = false;
  std::int64_t inside = 0;  // number of voxels inside the mask
  float zero = 0;           // the sample that represents the value 0, for float samples

  /// Returns the mask of a slice.
  /// @throws BadData  the mask has no such slice
  [[nodiscard]] const std::shared_ptr<const SliceMask>& of(const Frame& slice) const;
};

/// Reads the mask for the slices of `source`. Voxels with a number other than 0 are inside the
/// mask. `options` are those with which `source` was opened.
/// @throws NoInput  the file cannot be opened
/// @throws BadData  the file is damaged, the mask has another size, or no voxel is inside
/// @throws InvalidArgument  the file is not a stack
[[nodiscard]] VolumeMask read_mask(const std::string& path, const io::MediaSource& source,
                                   const io::SourceOptions& options, bool zero_outside);

/// Reads the mask that the options name; nothing if they name none.
/// @throws InvalidArgument  a mask is given although the frames are not slices
/// @throws any error of read_mask()
[[nodiscard]] std::optional<VolumeMask> given_mask(const InputOptions& options,
                                                   const io::MediaSource& source);

/// Wraps `denoiser` so that every slice receives its mask, which the session may use. In the
/// results, voxels outside the mask have their input value or 0. The wrapper stores the input
/// slices until it has returned their results.
[[nodiscard]] std::unique_ptr<Denoiser> masked(std::unique_ptr<Denoiser> denoiser, VolumeMask mask);

}  // namespace lull::tools
