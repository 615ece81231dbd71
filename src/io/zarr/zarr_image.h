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

/// The axes of images, in the order of PlaneIndex.
enum class ZarrAxis { time, channel, z, y, x };
inline constexpr int zarr_axes = 5;

/// One array of an image: a level of its pyramid.
struct ZarrLevel {
  std::string name;  // path within the image
  ZarrArray array;
  /// For each axis, the dimension of the array; -1: the array has no such axis.
  std::array<int, zarr_axes> dimension{-1, -1, -1, -1, -1};
  /// Size of the array and of a chunk along each axis; 1 for axes that the array has not.
  std::array<std::int64_t, zarr_axes> size{1, 1, 1, 1, 1}, chunk{1, 1, 1, 1, 1};

  std::int64_t size_of(ZarrAxis axis) const { return size[static_cast<std::size_t>(axis)]; }
  std::int64_t chunk_of(ZarrAxis axis) const { return chunk[static_cast<std::size_t>(axis)]; }
  /// Returns the size of a plane of all rows and columns.
  std::size_t plane_bytes() const;
};

struct ZarrImage {
  std::string store;              // the folder that the user named
  std::string group;              // folder of the image within the store; empty: the store itself
  std::vector<ZarrLevel> levels;  // the largest first; at least one
  ImageFacts facts;
  bool is_described = false;  // whether the metadata name the axes
  /// Parts of the store that TIFF files cannot hold, one text each: "labels" ...
  std::vector<std::string> other_contents;
  std::vector<std::string> notes;  // notes for the user, one text each
};

/// Reads the metadata of the image in a store.
/// @throws BadData  the metadata are invalid, the store has no image, several images or a plate, or
///     lull cannot read the arrays
[[nodiscard]] ZarrImage read_zarr_image(const std::string& path);

}  // namespace lull::io
