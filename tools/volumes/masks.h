#pragma once
// Masks: a file selects the voxels of a volume that are denoised.

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

/// The masks of slices: of one volume, which then applies to all volumes of a series, or of a
/// complete series.
struct VolumeMask {
  std::vector<std::shared_ptr<const SliceMask>> slices;
  bool series = false;
  std::int64_t inside = 0;  // number of voxels inside
  float zero = 0;           // the sample that represents the value 0, for float samples

  /// @throws BadData  the mask has no such slice
  [[nodiscard]] const std::shared_ptr<const SliceMask>& of(const Frame& slice) const;
};

/// Reads the mask for the slices of `source`. A voxel is inside if its value in the file is a
/// number other than 0. `options` are those that `source` was opened with.
/// @throws NoInput, BadData  as io::open_source()
/// @throws BadData  the mask has another size, or no voxel is inside
/// @throws InvalidArgument  the file is not a stack
[[nodiscard]] VolumeMask read_mask(const std::string& path, const io::MediaSource& source,
                                   const io::SourceOptions& options, bool zero_outside);

/// Reads the mask that the options name, if any.
/// @throws as read_mask(); InvalidArgument  a mask is given although the frames are not slices
[[nodiscard]] std::optional<VolumeMask> given_mask(const InputOptions& options,
                                                   const io::MediaSource& source);

/// Wraps `denoiser` so that every slice has its mask, which the session may use. Voxels outside the
/// mask are restored or set to 0 in the results. Slices in flight are kept until their results are
/// returned.
[[nodiscard]] std::unique_ptr<Denoiser> masked(std::unique_ptr<Denoiser> denoiser, VolumeMask mask);

}  // namespace lull::tools
