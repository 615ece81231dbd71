#pragma once
// A source for the planes of an image in a Zarr store.

#include <string>
#include <vector>

#include "io/stacks/plane_source.h"
#include "io/zarr/zarr_planes.h"

namespace lull::io {

class ZarrSource final : public PlaneSource {
 public:
  /// Opens a store. If the samples are not 8-bit, the constructor reads all samples to find the
  /// range of values of each channel.
  ZarrSource(const std::string& path, const SourceOptions& options);

  ImageFacts facts() const override { return image_.facts; }
  std::vector<std::string> other_contents() const override { return image_.other_contents; }
  PlanePyramid pyramid() const override;
  std::vector<std::string> files() const override;
  const ZarrImage& image() const { return image_; }
  /// Returns the memory limit for slices in bytes; 0: no limit.
  std::int64_t max_memory() const { return max_memory_; }

 private:
  void read_plane(std::int64_t number, std::vector<std::byte>& stored, bool check) override;

  ZarrImage image_;
  ZarrPlaneReader reader_;
  std::int64_t max_memory_;
};

}  // namespace lull::io
