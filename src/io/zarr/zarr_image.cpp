#include "io/zarr/zarr_image.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/zarr/zarr_json.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view axis_names[zarr_axes] = {"t", "c", "z", "y", "x"};

bool exists(const std::string& path) {
  std::error_code code;
  return fs::exists(path, code);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns the ZarrAxis value of an axis; -1 for unknown axes. If the name of the axis is unknown,
/// the function uses the type of the axis.
int axis_of(const std::string& stated_name, const std::string& type) {
  const std::string name = lower_case(stated_name);
  for (int axis = 0; axis < zarr_axes; ++axis)
    if (name == axis_names[axis]) return axis;
  if (name == "time" || type == "time") return static_cast<int>(ZarrAxis::time);
  if (name == "channel" || type == "channel") return static_cast<int>(ZarrAxis::channel);
  return -1;
}

struct StatedAxis {
  std::string name, type, unit;
};

/// Returns the attributes of a group: in OME-NGFF 0.5, the members of the object "ome".
Json attributes_of(const std::string& folder) {
  if (!exists(folder + "/zarr.json")) return read_json_if_exists(folder + "/.zattrs");
  const Json json = read_json(folder + "/zarr.json");
  const Json& attributes = member(json, "attributes");
  const Json& ome = member(attributes, "ome");
  return ome.is_object() ? ome : attributes;
}

const Json& multiscales_of(const Json& attributes) {
  static const Json none;
  const Json& list = member(attributes, "multiscales");
  return list.is_array() && !list.empty() ? list.front() : none;
}

/// Reads the metadata of the image in a store.
class ImageReader {
 public:
  explicit ImageReader(const std::string& path) {
    image_.store = path.substr(0, path.find_last_not_of('/') + 1);
    if (image_.store.empty()) image_.store = "/";
  }

  ZarrImage read() {
    if (is_zarr_array(image_.store)) {
      read_array();
    } else {
      const Json attributes = find_group();
      read_multiscales(attributes);
      read_channels(attributes);
    }
    return std::move(image_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw BadData("'" + image_.store + "' " + what);
  }

  std::string folder() const {
    return image_.group.empty() ? image_.store : image_.store + "/" + image_.group;
  }

  /// Finds the group of the image, and returns its attributes. bioformats2raw stores images in the
  /// groups 0, 1, 2 ...
  Json find_group() {
    Json attributes = attributes_of(image_.store);
    if (!multiscales_of(attributes).is_null()) return attributes;
    const bool is_plate =
        !member(attributes, "plate").is_null() || !member(attributes, "well").is_null();
    if (is_plate)
      fail(
          "is a plate with several images (lull denoises one image); name an image, for example '" +
          image_.store + "/A/1/0'");
    image_.group = "0";
    attributes = attributes_of(folder());
    if (multiscales_of(attributes).is_null())
      fail("contains no image (no multiscales in its metadata); name an array or an image in it");
    if (!multiscales_of(attributes_of(image_.store + "/1")).is_null())
      fail("contains several images (lull denoises one image); name one of them, for example '" +
           folder() + "'");
    return attributes;
  }

  void read_array() {
    ZarrLevel level{.name = "", .array = read_zarr_array(image_.store)};
    std::vector<StatedAxis> axes;
    for (const std::string& name : level.array.names)
      axes.push_back({.name = name, .type = {}, .unit = {}});
    const int dimensions = level.array.dimensions();
    if (axes.empty()) {
      if (dimensions > 3)
        fail("has " + std::to_string(dimensions) +
             " dimensions without names (t, c, z, y, x); name the image that contains "
             "it, or write _ARRAY_DIMENSIONS or dimension_names into its metadata");
      axes = last_axes(dimensions);
    } else {
      image_.is_described = true;
    }
    add_level(std::move(level), axes);
  }

  static std::vector<StatedAxis> last_axes(int count) {
    std::vector<StatedAxis> axes;
    for (int axis = std::max(0, zarr_axes - count); axis < zarr_axes; ++axis)
      axes.push_back({.name = std::string(axis_names[axis]), .type = {}, .unit = {}});
    return axes;
  }

  void read_multiscales(const Json& attributes) {
    const Json& multiscales = multiscales_of(attributes);
    if (member(attributes, "multiscales").size() > 1)
      image_.notes.push_back("'" + folder() +
                             "' has several pyramids: only the first is denoised, the others are "
                             "copied");
    const Json& datasets = member(multiscales, "datasets");
    constexpr std::size_t max_levels = 100;
    if (!datasets.is_array() || datasets.empty() || datasets.size() > max_levels)
      fail("states no valid datasets in its multiscales; check the store");
    const std::vector<StatedAxis> axes = axes_in(member(multiscales, "axes"));
    for (const Json& dataset : datasets) {
      const std::string name = text_member(dataset, "path");
      check_name(name);
      add_level({.name = name, .array = read_zarr_array(folder() + "/" + name)}, axes);
    }
    image_.is_described = true;
    image_.facts.name = text_member(multiscales, "name");
    read_steps(multiscales, datasets.front(), axes);
    find_other_contents(attributes);
  }

  static std::vector<StatedAxis> axes_in(const Json& stated) {
    if (!stated.is_array()) return last_axes(zarr_axes);  // version 0.1 or 0.2
    std::vector<StatedAxis> axes;
    for (const Json& axis : stated)
      axes.push_back(
          {.name = axis.is_string() ? axis.get<std::string>() : text_member(axis, "name"),
           .type = text_member(axis, "type"),
           .unit = text_member(axis, "unit")});
    return axes;
  }

  /// Checks `name`, the path of the array of a pyramid level. Throws an error if the path is empty,
  /// too long or outside the store, or if an earlier level has the same path.
  void check_name(const std::string& name) const {
    const fs::path path(name);
    const bool leaves = path.is_absolute() || std::ranges::count(path, fs::path("..")) > 0;
    constexpr std::size_t max_bytes = 200;
    if (name.empty() || name.size() > max_bytes || leaves)
      fail("states the path '" + name.substr(0, 80) +
           "' of an array (it must lie in the store); check the store");
    for (const ZarrLevel& level : image_.levels)
      if (level.name == name)
        fail("states the array '" + name.substr(0, 80) + "' twice; check the store");
  }

  void add_level(ZarrLevel level, const std::vector<StatedAxis>& axes) {
    const ZarrArray& array = level.array;
    if (axes.size() != array.shape.size())
      fail("states " + std::to_string(axes.size()) + " axes, but the array '" + array.folder +
           "' has " + std::to_string(array.shape.size()) + " dimensions; check the store");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const int axis = axis_of(axes[i].name, axes[i].type);
      if (axis < 0) {
        if (array.shape[i] == 1) continue;
        fail("has the axis '" + axes[i].name.substr(0, 40) +
             "' (lull knows the axes t, c, z, y, x); name a part without it");
      }
      if (level.dimension[axis] >= 0)
        fail("has two axes '" + std::string(axis_names[axis]) + "'; check the store");
      level.dimension[axis] = static_cast<int>(i);
      level.size[axis] = array.shape[i];
      level.chunk[axis] = array.chunk[i];
    }
    const auto has = [&](ZarrAxis axis) { return level.dimension[static_cast<int>(axis)] >= 0; };
    if (!has(ZarrAxis::x) || !has(ZarrAxis::y)) fail("has no axes y and x; check the store");
    image_.levels.push_back(std::move(level));
  }

  /// Reads the sample spacing of the largest pyramid level.
  void read_steps(const Json& multiscales, const Json& dataset,
                  const std::vector<StatedAxis>& axes) {
    std::array<double, zarr_axes> steps{1, 1, 1, 1, 1};
    bool is_known = false;
    for (const Json* owner : {&dataset, &multiscales}) {
      const Json& transformations = member(*owner, "coordinateTransformations");
      if (!transformations.is_array()) continue;
      for (const Json& transformation : transformations) {
        const Json& scale = member(transformation, "scale");
        if (!scale.is_array() || scale.size() != axes.size()) continue;
        is_known = true;
        for (std::size_t i = 0; i < axes.size(); ++i)
          if (const int axis = axis_of(axes[i].name, axes[i].type);
              axis >= 0 && scale[i].is_number())
            steps[axis] *= scale[i].get<double>();
      }
    }
    if (!is_known) return;
    const auto step_of = [&](ZarrAxis axis) -> AxisStep {
      const double step = steps[static_cast<int>(axis)];
      const int dimension = image_.levels.front().dimension[static_cast<int>(axis)];
      if (dimension < 0 || !std::isfinite(step) || step <= 0) return {};
      return {.step = step, .unit = axes[static_cast<std::size_t>(dimension)].unit};
    };
    image_.facts.x = step_of(ZarrAxis::x);
    image_.facts.y = step_of(ZarrAxis::y);
    image_.facts.z = step_of(ZarrAxis::z);
    image_.facts.time = step_of(ZarrAxis::time);
  }

  void read_channels(const Json& attributes) {
    const Json& channels = member(member(attributes, "omero"), "channels");
    if (!channels.is_array() || static_cast<std::int64_t>(channels.size()) !=
                                    image_.levels.front().size_of(ZarrAxis::channel))
      return;
    for (const Json& channel : channels)
      image_.facts.channels.push_back(text_member(channel, "label"));
  }

  void find_other_contents(const Json& attributes) {
    std::vector<std::string>& others = image_.other_contents;
    if (!member(attributes, "omero").is_null()) others.emplace_back("display settings (omero)");
    std::vector<std::string> folders;
    std::error_code code;
    for (fs::directory_iterator at(folder(), code), end; !code && at != end; at.increment(code)) {
      const std::string name = at->path().filename().string();
      const auto is_level = [&](const ZarrLevel& level) {
        return fs::path(level.name).begin()->string() == name;
      };
      if (at->is_directory(code) && std::ranges::none_of(image_.levels, is_level))
        folders.push_back(name);
    }
    std::ranges::sort(folders);
    for (const std::string& name : folders) others.push_back("the group '" + name + "'");
  }

  ZarrImage image_;
};

}  // namespace

std::size_t ZarrLevel::plane_bytes() const {
  return static_cast<std::size_t>(size_of(ZarrAxis::x)) *
         static_cast<std::size_t>(size_of(ZarrAxis::y)) *
         static_cast<std::size_t>(io::size_of(array.samples.type));
}

ZarrImage read_zarr_image(const std::string& path) { return ImageReader(path).read(); }

}  // namespace lull::io
