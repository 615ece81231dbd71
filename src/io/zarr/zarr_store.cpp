#include "io/zarr/zarr_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <numeric>
#include <span>
#include <string_view>

#include "core/error.h"
#include "io/zarr/zarr_json.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view metadata_names[] = {".zarray", ".zattrs", ".zgroup", ".zmetadata",
                                               "zarr.json"};

/// Returns whether a file is a chunk of the image: a file in an array's folder, except the
/// metadata.
bool is_chunk(const fs::path& file, const ZarrImage& image) {
  for (const ZarrLevel& level : image.levels) {
    const fs::path inside = file.lexically_relative(level.array.folder);
    if (inside.empty() || *inside.begin() == "..") continue;
    const bool is_metadata = std::ranges::count(metadata_names, inside.string()) > 0;
    return !is_metadata;
  }
  return false;
}

void write_json(OutputFolder& output, const std::string& name, const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  output.write(output.temporary() + "/" + name, std::as_bytes(std::span(text)));
}

// Maximum height and width of the chunks of new stores, in samples.
constexpr std::int64_t chunk_side = 1024;
// Height and width in samples at which the pyramid ends.
constexpr std::int64_t max_last_side = 512;
constexpr const char* axis_names[zarr_axes] = {"t", "c", "z", "y", "x"};
constexpr const char* axis_types[zarr_axes] = {"time", "channel", "space", "space", "space"};

/// Writes the metadata of a new store.
class StoreMaker {
 public:
  StoreMaker(OutputFolder& output, const NewZarrImage& image) : output_(output), image_(image) {
    size_ = {image.axes.times, image.axes.channels, image.axes.slices, image.height, image.width};
    for (int axis = 0; axis < zarr_axes; ++axis)
      if (axis >= static_cast<int>(ZarrAxis::y) || size_[axis] > 1) present_.push_back(axis);
  }

  std::vector<ZarrLevel> make() {
    write_json(output_, ".zgroup", {{"zarr_format", 2}});
    add_levels();
    Json datasets = Json::array();
    for (const ZarrLevel& level : levels_) {
      write_array(level);
      datasets.push_back(dataset_of(level));
    }
    Json multiscales = {
        {"version", "0.4"}, {"axes", axes()}, {"datasets", datasets}, {"type", "mean"}};
    multiscales["name"] = image_.facts.name.empty() ? "image" : image_.facts.name;
    Json attributes = {{"multiscales", Json::array({multiscales})}};
    if (Json channels = channel_list(); !channels.empty())
      attributes["omero"] = {{"channels", channels}};
    write_json(output_, ".zattrs", attributes);
    return levels_;
  }

 private:
  void add_levels() {
    std::array<std::int64_t, zarr_axes> size = size_;
    std::int64_t &height = size[3], &width = size[4];
    for (;;) {
      add_level(size);
      if (std::max(width, height) <= max_last_side) return;
      width = (width + 1) / 2;
      height = (height + 1) / 2;
    }
  }

  void add_level(const std::array<std::int64_t, zarr_axes>& size) {
    ZarrLevel level{.name = std::to_string(levels_.size()), .array = {}};
    ZarrArray& array = level.array;
    array.folder = output_.temporary() + "/" + level.name;
    array.samples = {
        .type = image_.type,
        .swapped = size_of(image_.type) > 1 && std::endian::native == std::endian::big};
    array.fill.resize(static_cast<std::size_t>(size_of(image_.type)));
    array.separator = "/";
    array.codec = {
        .kind = ZarrCodec::Kind::blosc, .level = 5, .blosc_name = "lz4", .blosc_shuffle = 1};
    level.size = size;
    for (std::size_t i = 0; i < present_.size(); ++i) {
      const int axis = present_[i];
      level.dimension[axis] = static_cast<int>(i);
      if (axis >= static_cast<int>(ZarrAxis::y))
        level.chunk[axis] = std::min(size[axis], chunk_side);
      array.shape.push_back(level.size[axis]);
      array.chunk.push_back(level.chunk[axis]);
    }
    array.order.resize(present_.size());
    std::iota(array.order.begin(), array.order.end(), 0);
    levels_.push_back(std::move(level));
  }

  void write_array(const ZarrLevel& level) {
    const std::string_view name = name_of(image_.type);
    const char kind = name.starts_with("uint") ? 'u' : name.starts_with("int") ? 'i' : 'f';
    const int bytes = size_of(image_.type);
    const std::string type = std::string(bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
    write_json(
        output_, level.name + "/.zarray",
        {{"zarr_format", 2},
         {"shape", level.array.shape},
         {"chunks", level.array.chunk},
         {"dtype", type},
         {"compressor",
          {{"id", "blosc"}, {"cname", "lz4"}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}}},
         {"fill_value", 0},
         {"order", "C"},
         {"filters", nullptr},
         {"dimension_separator", "/"}});
  }

  const AxisStep& step_of(int axis) const {
    static const AxisStep none;
    switch (static_cast<ZarrAxis>(axis)) {
      case ZarrAxis::time:
        return image_.facts.time;
      case ZarrAxis::z:
        return image_.facts.z;
      case ZarrAxis::y:
        return image_.facts.y;
      case ZarrAxis::x:
        return image_.facts.x;
      case ZarrAxis::channel:
        break;
    }
    return none;
  }

  Json axes() const {
    Json axes = Json::array();
    for (const int axis : present_) {
      Json one = {{"name", axis_names[axis]}, {"type", axis_types[axis]}};
      if (!step_of(axis).unit.empty()) one["unit"] = step_of(axis).unit;
      axes.push_back(one);
    }
    return axes;
  }

  /// Returns the metadata of a pyramid level: the sample spacing ("scale") and the position of the
  /// first sample's centre ("translation"). The position differs between levels, because a sample
  /// represents a block of samples of the full-resolution level.
  Json dataset_of(const ZarrLevel& level) const {
    Json scale = Json::array(), translation = Json::array();
    for (const int axis : present_) {
      const double step = step_of(axis).step > 0 ? step_of(axis).step : 1;
      double factor = 1;
      for (std::int64_t size = size_[axis]; size > level.size[axis]; size = (size + 1) / 2)
        factor *= 2;
      scale.push_back(step * factor);
      translation.push_back(step * (factor - 1) / 2);
    }
    Json transformations = Json::array({{{"type", "scale"}, {"scale", scale}}});
    if (level.name != "0")
      transformations.push_back({{"type", "translation"}, {"translation", translation}});
    return {{"path", level.name}, {"coordinateTransformations", transformations}};
  }

  Json channel_list() const {
    Json channels = Json::array();
    if (static_cast<std::int64_t>(image_.facts.channels.size()) != image_.axes.channels)
      return channels;
    for (std::size_t i = 0; i < image_.facts.channels.size(); ++i) {
      const ValueRange range = i < image_.ranges.size() ? image_.ranges[i] : ValueRange{0, 255};
      const double low = range.low, high = range.low + range.span;
      channels.push_back(
          {{"label", image_.facts.channels[i]},
           {"color", "FFFFFF"},
           {"active", true},
           {"window", {{"min", low}, {"max", high}, {"start", low}, {"end", high}}}});
    }
    return channels;
  }

  OutputFolder& output_;
  const NewZarrImage& image_;
  std::array<std::int64_t, zarr_axes> size_{};
  std::vector<int> present_;  // axes of the arrays, in the order of their dimensions
  std::vector<ZarrLevel> levels_;
};

}  // namespace

std::vector<std::string> copy_store(OutputFolder& output, const ZarrImage& image) {
  std::vector<std::string> missing;
  std::error_code code;
  fs::recursive_directory_iterator at(image.store, code);
  for (const fs::recursive_directory_iterator end; !code && at != end; at.increment(code)) {
    const fs::path& file = at->path();
    std::error_code ignored;
    const bool is_link = at->is_symlink(ignored);
    if (at->is_directory(ignored) && !is_link) continue;
    if (is_chunk(file, image)) continue;
    const std::string name = file.lexically_relative(image.store).string();
    if (at->is_regular_file(ignored))
      output.copy(file.string(), output.temporary() + "/" + name);
    else
      missing.push_back("'" + name + "' of the store (it is neither a file nor a folder)");
  }
  if (code) throw IoError("cannot read '" + image.store + "' (" + code.message() + ")");
  std::ranges::sort(missing);
  return missing;
}

std::vector<ZarrLevel> levels_in_copy(const OutputFolder& output, const ZarrImage& image) {
  std::vector<ZarrLevel> levels = image.levels;
  for (ZarrLevel& level : levels) {
    level.array.folder = output.temporary();
    for (const std::string& part : {image.group, level.name})
      if (!part.empty()) level.array.folder += "/" + part;
  }
  return levels;
}

std::vector<ZarrLevel> make_store(OutputFolder& output, const NewZarrImage& image) {
  return StoreMaker(output, image).make();
}

}  // namespace lull::io
