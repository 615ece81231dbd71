#pragma once
// Masks of volumes: the voxels that lull denoises.

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

/// The mask of an input, slice by slice. If `series` is true, the mask contains one volume for each
/// volume of the input, and otherwise a single volume that applies to all volumes.
struct VolumeMask {
  std::vector<std::shared_ptr<const SliceMask>> slices;
  bool series = false;
  std::int64_t inside = 0;  // number of voxels inside the mask
  float zero = 0;           // the sample that represents the value 0, for float samples

  /// @throws BadData  the mask has fewer slices than the volume
  [[nodiscard]] const std::shared_ptr<const SliceMask>& of(const Frame& slice) const;
};

/// Reads the mask for the slices of `source`. Voxels that are not 0 are inside the mask.
/// @param options  the options of `source`
/// @throws NoInput  lull cannot open the file
/// @throws BadData  damage, another size, or no voxel inside
/// @throws InvalidArgument  the file is not a stack
[[nodiscard]] VolumeMask read_mask(const std::string& path, const io::MediaSource& source,
                                   const io::SourceOptions& options, bool zero_outside);

/// Reads the mask of --mask. Returns no value without the option.
/// @throws InvalidArgument  the options name a mask, but the frames are not slices
/// @throws any error of read_mask()
[[nodiscard]] std::optional<VolumeMask> given_mask(const InputOptions& options,
                                                   const io::MediaSource& source);

/// Returns a denoiser that assigns a mask to every slice and passes the slice to `denoiser`.
/// Because voxels outside the mask keep their input value or become 0, the returned denoiser stores
/// each slice until it has returned the result of the slice.
[[nodiscard]] std::unique_ptr<Denoiser> masked(std::unique_ptr<Denoiser> denoiser, VolumeMask mask);

}  // namespace lull::tools
