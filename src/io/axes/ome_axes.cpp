#include "io/axes/ome_axes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "io/axes/xml_tags.h"

namespace lull::io {
namespace {

/// An OME-XML element TiffData: a run of pages, and the plane on its first page.
struct PageRun {
  std::int64_t page, planes;          // -1: not stated
  std::array<std::int64_t, 3> first;  // index along C, Z, T
  std::string file_name, file_id;     // file that contains the pages; empty: this file
};

/// An OME-XML element Pixels: the planes of one image.
struct Pixels {
  std::array<std::int64_t, 3> sizes;  // along C, Z, T
  std::array<int, 3> order;           // axes (0: C, 1: Z, 2: T) from the fastest to the slowest
  std::vector<PageRun> runs;
};

struct OmeDescription {
  std::vector<Pixels> images;
  std::string id;             // UUID of this file
  bool is_elsewhere = false;  // another file contains the description
  bool has_other_size = false;
};

/// The plane on a page: image index, and indices along C, T and Z.
using Plane = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

constexpr std::string_view axis_letters = "CZT";

class OmeReader {
 public:
  explicit OmeReader(const DescribedPages& file) : file_(file) {}

  StackAxes axes() {
    read();
    if (description_.images.empty()) {
      const std::string why =
          description_.is_elsewhere ? "is in another file" : "describes no pixels";
      return {.slices = file_.pages,
              .page_of_frame = {},
              .warning = "the OME-XML of '" + file_.path + "' " + why +
                         "; all pages are taken for slices of one volume"};
    }
    std::vector<std::pair<Plane, std::int64_t>> planes = assign_pages();
    std::ranges::sort(planes);
    StackAxes result = sizes_of(planes);
    for (const auto& [plane, page] : planes) result.page_of_frame.push_back(page);
    if (std::ranges::is_sorted(result.page_of_frame)) result.page_of_frame.clear();
    if (description_.has_other_size)
      result.warning = "the OME-XML of '" + file_.path + "' states another width or height than " +
                       std::to_string(file_.width) + "x" + std::to_string(file_.height) +
                       "; the size of the pages is used";
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw BadData("'" + file_.path + "' has " + std::to_string(file_.pages) +
                  (file_.pages == 1 ? " page" : " pages") + ", but its OME-XML " + what +
                  "; write it again with the program that made it, or remove its description");
  }

  std::int64_t number(const XmlTag& tag, std::string_view name, std::int64_t otherwise,
                      std::int64_t minimum) const {
    // Upper bound for numbers in OME-XML. The product of three numbers below this bound fits in 64
    // bits.
    constexpr std::int64_t maximum = 1'000'000;
    const std::optional<std::int64_t> value = tag.number(name, otherwise);
    if (!value || *value > maximum || (*value < minimum && *value != otherwise))
      fail("states no valid " + std::string(name));
    return *value;
  }

  void read() {
    XmlTags tags(file_.description);
    while (const std::optional<XmlTag> tag = tags.next()) {
      if (tag->name == "OME") description_.id = tag->attribute("UUID").value_or("");
      if (tag->name == "BinaryOnly") description_.is_elsewhere = true;
      if (tag->name == "Pixels") description_.images.push_back(pixels_of(*tag));
      if (description_.images.empty()) continue;
      std::vector<PageRun>& runs = description_.images.back().runs;
      if (tag->name == "TiffData") runs.push_back(run_of(*tag));
      if (tag->name == "UUID" && !runs.empty()) {
        runs.back().file_name = tag->attribute("FileName").value_or("");
        runs.back().file_id = std::string(tag->text);
      }
    }
  }

  Pixels pixels_of(const XmlTag& tag) {
    Pixels pixels{};
    for (int axis = 0; axis < 3; ++axis)
      pixels.sizes[axis] = number(tag, "Size" + std::string(1, axis_letters[axis]), 0, 1);
    if (std::ranges::count(pixels.sizes, 0) > 0) fail("states no valid SizeC, SizeZ and SizeT");
    const std::string order = tag.attribute("DimensionOrder").value_or("");
    std::string sorted = order.size() == 5 ? order.substr(2) : "";
    std::ranges::sort(sorted);
    if (!order.starts_with("XY") || sorted != "CTZ") fail("states no valid DimensionOrder");
    for (int place = 0; place < 3; ++place)
      pixels.order[place] = static_cast<int>(axis_letters.find(order[2 + place]));
    description_.has_other_size |= number(tag, "SizeX", file_.width, 1) != file_.width ||
                                   number(tag, "SizeY", file_.height, 1) != file_.height;
    return pixels;
  }

  PageRun run_of(const XmlTag& tag) const {
    return {.page = number(tag, "IFD", -1, 0),
            .planes = number(tag, "PlaneCount", -1, 0),
            .first = {number(tag, "FirstC", 0, 0), number(tag, "FirstZ", 0, 0),
                      number(tag, "FirstT", 0, 0)},
            .file_name = {},
            .file_id = {}};
  }

  bool is_in_this_file(const PageRun& run) const {
    if (run.file_name.empty() && run.file_id.empty()) return true;
    if (!run.file_id.empty() && run.file_id == description_.id) return true;
    return run.file_name == std::filesystem::path(file_.path).filename().string();
  }

  /// Returns whether the OME-XML assigns a page to this file. The result is false if the OME-XML
  /// identifies the file only by its name, and a user has renamed the file.
  bool names_this_file() const {
    for (const Pixels& pixels : description_.images)
      if (pixels.runs.empty() || std::ranges::any_of(pixels.runs, [this](const PageRun& run) {
            return is_in_this_file(run);
          }))
        return true;
    return false;
  }

  bool names_one_file() const {
    std::set<std::pair<std::string, std::string>> files;
    for (const Pixels& pixels : description_.images)
      for (const PageRun& run : pixels.runs) files.emplace(run.file_name, run.file_id);
    return files.size() == 1;
  }

  /// Returns all planes that the OME-XML describes, each with the index of its page.
  std::vector<std::pair<Plane, std::int64_t>> assign_pages() const {
    const bool all = !names_this_file();
    if (all && !names_one_file()) fail("assigns all planes to other files");
    std::vector<std::pair<Plane, std::int64_t>> planes;
    std::vector<bool> used(static_cast<std::size_t>(file_.pages));
    for (std::size_t image = 0; image < description_.images.size(); ++image) {
      const Pixels& pixels = description_.images[image];
      std::vector<PageRun> runs = pixels.runs;
      if (runs.empty())
        runs.push_back({.page = -1, .planes = -1, .first = {}, .file_name = {}, .file_id = {}});
      for (const PageRun& run : runs) {
        if (!all && !is_in_this_file(run)) continue;
        const auto known = static_cast<std::int64_t>(planes.size());
        const std::int64_t begin = run.page >= 0 ? run.page : image == 0 ? 0 : known;
        const std::int64_t count = run.planes >= 0 ? run.planes
                                   : run.page >= 0 ? 1
                                                   : planes_of(pixels);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t page = begin + i;
          if (page >= file_.pages)
            fail("describes " + sizes_text(pixels) + ", with a plane in page " +
                 std::to_string(page + 1));
          if (used[static_cast<std::size_t>(page)])
            fail("states two planes for page " + std::to_string(page + 1));
          used[static_cast<std::size_t>(page)] = true;
          planes.emplace_back(plane_at(pixels, static_cast<std::int64_t>(image), run, i), page);
        }
      }
    }
    if (static_cast<std::int64_t>(planes.size()) != file_.pages)
      fail("describes " + std::to_string(planes.size()) + " of them (" +
           sizes_text(description_.images.front()) + ")");
    return planes;
  }

  static std::int64_t planes_of(const Pixels& pixels) {
    return pixels.sizes[0] * pixels.sizes[1] * pixels.sizes[2];
  }

  static std::string sizes_text(const Pixels& pixels) {
    return describe(StackAxes{.channels = pixels.sizes[0],
                              .times = pixels.sizes[2],
                              .slices = pixels.sizes[1],
                              .page_of_frame = {},
                              .warning = {}});
  }

  /// Returns the plane on page `steps` of `run`, where page 0 is the first page of the run. From
  /// page to page, the plane advances along the axes in the order of the attribute DimensionOrder.
  Plane plane_at(const Pixels& pixels, std::int64_t image, const PageRun& run,
                 std::int64_t steps) const {
    std::array<std::int64_t, 3> index = run.first;
    for (const int axis : pixels.order) {
      if (run.first[axis] >= pixels.sizes[axis])
        fail("places a plane outside of " + sizes_text(pixels));
      index[axis] += steps;
      steps = index[axis] / pixels.sizes[axis];
      index[axis] %= pixels.sizes[axis];
    }
    if (steps > 0) fail("places more planes in its pages than " + sizes_text(pixels));
    return {image, index[0], index[2], index[1]};
  }

  /// Returns the numbers of channels, time points and slices in `planes`, which must be sorted.
  /// @throws BadData  the planes do not form a complete grid
  StackAxes sizes_of(const std::vector<std::pair<Plane, std::int64_t>>& planes) const {
    std::set<std::pair<std::int64_t, std::int64_t>> channels;
    std::set<std::int64_t> times, slices;
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const auto& [image, c, t, z] = planes[i].first;
      if (i > 0 && planes[i].first == planes[i - 1].first) fail("states two pages for one plane");
      channels.emplace(image, c);
      times.insert(t);
      slices.insert(z);
    }
    StackAxes axes{.channels = static_cast<std::int64_t>(channels.size()),
                   .times = static_cast<std::int64_t>(times.size()),
                   .slices = static_cast<std::int64_t>(slices.size()),
                   .page_of_frame = {},
                   .is_described = true,
                   .warning = {}};
    if (axes.channels * axes.times * axes.slices != file_.pages)
      fail("describes " + sizes_text(description_.images.front()) + ", of which some are missing");
    return axes;
  }

  const DescribedPages& file_;
  OmeDescription description_;
};

}  // namespace

bool is_ome_xml(std::string_view description) {
  const std::size_t begin = description.find('<');
  if (begin == description.npos) return false;
  const std::optional<XmlTag> root = XmlTags(description).next();
  return root && root->name == "OME";
}

StackAxes ome_axes(const DescribedPages& file) { return OmeReader(file).axes(); }

}  // namespace lull::io
