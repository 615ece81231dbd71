// Writes OME-Zarr stores: a copy of the input's store with filtered samples, or a new store.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/files/output_folder.h"
#include "io/stacks/zarr_source.h"
#include "io/zarr/zarr_planes.h"
#include "io/zarr/zarr_pyramid.h"
#include "io/zarr/zarr_store.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

OutputFolderOptions folder_options(const SinkOptions& options) {
  return {.overwrite = options.overwrite,
          .access = options.access,
          .follow_links = options.follow_links,
          .may_replace = [](const std::string& path) { return is_zarr(path); }};
}

class ZarrSink final : public StackSink {
 public:
  ZarrSink(const std::string& path, const PlaneSource& source, const SinkOptions& options)
      : result_(source), folder_(path, folder_options(options)), scratch_(folder_of(path)) {
    container_ = "zarr";
    samples_ = name_of(source.plane_format().type);
    temporary_ = folder_.temporary();
    if (const auto* zarr = dynamic_cast<const ZarrSource*>(&source)) {
      losses_ = copy_store(folder_, zarr->image());
      levels_ = levels_in_copy(folder_, zarr->image());
      for (const ZarrLevel& level : zarr->image().levels) inputs_.push_back(level.array);
    } else {
      losses_ = losses_of_planes(path, source);
      levels_ = make_store(folder_, {.axes = source.axes(),
                                     .width = source.plane_format().width,
                                     .height = source.plane_format().height,
                                     .type = source.plane_format().type,
                                     .facts = source.facts(),
                                     .ranges = source.ranges()});
    }
    writer_.emplace(folder_, levels_.front(), input_of(0), scratch_);
  }

  void write(Frame frame) override { writer_->write(result_.convert(frame)); }

  void finish() override {
    result_.check_complete();
    writer_->finish();
    writer_.reset();
    for (std::size_t i = 1; i < levels_.size(); ++i)
      write_level(folder_, levels_[i - 1], levels_[i], input_of(i), scratch_);
    folder_.commit();
  }

 private:
  /// Returns the array of the input for a pyramid level; null if the input is not a Zarr store.
  const ZarrArray* input_of(std::size_t level) const {
    return level < inputs_.size() ? &inputs_[level] : nullptr;
  }

  PlaneResult result_;
  OutputFolder folder_;
  std::string scratch_;  // folder for temporary files
  std::vector<ZarrLevel> levels_;
  std::vector<ZarrArray> inputs_;  // arrays of the input's levels
  std::optional<ZarrPlaneWriter> writer_;
};

/// Throws an error if output and input are equal, or if one contains the other.
void refuse_input(const std::string& path, const PlaneSource& source) {
  std::error_code code;
  const fs::path output =
                     fs::weakly_canonical(path.substr(0, path.find_last_not_of('/') + 1), code),
                 input = fs::weakly_canonical(
                     source.path().substr(0, source.path().find_last_not_of('/') + 1), code);
  const auto contains = [](const fs::path& outer, const fs::path& inner) {
    return std::ranges::mismatch(outer, inner).in1 == outer.end();
  };
  if (contains(output, input) || contains(input, output))
    throw InvalidArgument("'" + path +
                          "' is the input, lies in it or contains it; give another output");
}

/// Throws an error if the planes in memory exceed the memory limit.
void check_memory_of_levels(const ZarrSource& source) {
  std::uint64_t bytes = 0;
  const std::vector<ZarrLevel>& levels = source.image().levels;
  for (std::size_t i = 0; i < levels.size(); ++i)
    bytes =
        std::max(bytes, memory_to_read(levels[i == 0 ? 0 : i - 1]) + memory_to_write(levels[i]));
  check_memory(source.path(), static_cast<std::int64_t>(bytes), source.max_memory(),
               "write the store again with chunks of fewer slices, or ");
}

}  // namespace

std::unique_ptr<MediaSink> open_zarr_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options) {
  const auto* planes = dynamic_cast<const PlaneSource*>(&source);
  if (!planes || !is_zarr_name(path)) return nullptr;
  check_stack_output(path, source.info());
  refuse_input(path, *planes);
  refuse_encoder_options(options, path);
  refuse_datatype(path, options);
  if (const auto* zarr = dynamic_cast<const ZarrSource*>(planes)) {
    check_pyramid(zarr->image());
    check_memory_of_levels(*zarr);
  }
  return std::make_unique<ZarrSink>(path, *planes, options);
}

}  // namespace lull::io
