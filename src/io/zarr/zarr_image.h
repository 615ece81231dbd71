#pragma once
// Images in Zarr stores: OME-NGFF 0.1 to 0.5, and single arrays whose dimensions have names.
//
// Source: ngff.openmicroscopy.org, "OME-Zarr specification" 0.4 and 0.5.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/axes/image_facts.h"
#include "io/zarr/zarr_array.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {

/// The axes of images. The first three axes have the order of the members of PlaneIndex.
enum class ZarrAxis { time, channel, z, y, x };
inline constexpr int zarr_axes = 5;

/// One pyramid level of an image, stored as one array.
struct ZarrLevel {
  std::string name;  // path within the image
  ZarrArray array;
  /// Index of the array's dimension that corresponds to each axis; -1 if the array does not have
  /// the axis.
  std::array<int, zarr_axes> dimension{-1, -1, -1, -1, -1};
  /// Size of the array and of a chunk along each axis; 1 for missing axes.
  std::array<std::int64_t, zarr_axes> size{1, 1, 1, 1, 1}, chunk{1, 1, 1, 1, 1};

  std::int64_t size_of(ZarrAxis axis) const { return size[static_cast<std::size_t>(axis)]; }
  std::int64_t chunk_of(ZarrAxis axis) const { return chunk[static_cast<std::size_t>(axis)]; }
  /// Returns the size of a plane (all rows and columns) in bytes.
  std::size_t plane_bytes() const;
};

struct ZarrImage {
  std::string store;              // the folder that the user named
  std::string group;              // folder of the image within the store; empty: the store itself
  std::vector<ZarrLevel> levels;  // the largest first; at least one
  ImageFacts facts;
  bool is_described = false;  // whether the metadata name the axes
  /// One string for each part of the store that a TIFF file cannot contain, such as "the group
  /// 'labels'". The list does not include pyramid levels.
  std::vector<std::string> other_contents;
  std::vector<std::string> notes;  // notes for the user, one string for each note
};

/// Reads the metadata of the image in a store.
/// @throws BadData  the metadata are invalid, the store contains a plate or not exactly one image,
///     or lull cannot read the arrays
[[nodiscard]] ZarrImage read_zarr_image(const std::string& path);

}  // namespace lull::io
