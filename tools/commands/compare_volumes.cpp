#include "tools/commands/compare_volumes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "io/text_file.h"
#include "tools/commands/csv.h"
#include "tools/commands/quality.h"
#include "tools/commands/volume_quality.h"
#include "tools/pages/compare_page.h"
#include "tools/report/json.h"
#include "tools/volumes/masks.h"

namespace lull::tools {
namespace {

std::string shape_of(const io::MediaSource& source) {
  const io::VideoInfo& info = source.info();
  const std::int64_t volumes = info.frames_estimate / info.slices;
  return std::to_string(source.format().width) + "x" + std::to_string(source.format().height) +
         "x" + std::to_string(info.slices) + (volumes > 1 ? "x" + std::to_string(volumes) : "");
}

/// Returns the dynamic range for SSIM and PSNR. The range extends from the minimum of the volume,
/// or from 0 if the minimum is above 0, to the maximum.
double range_of(const std::string& path) {
  const auto source = io::open_source(path);
  double min_value = 0, max_value = -std::numeric_limits<double>::infinity();
  std::vector<double> values;
  while (const auto slice = source->read()) {
    source->values_of(*slice, values);
    for (const double v : values)
      if (std::isfinite(v)) min_value = std::min(min_value, v), max_value = std::max(max_value, v);
  }
  if (max_value > min_value) return max_value - min_value;
  throw BadData(path + " has no range (all its values are 0 or NaN); give --range");
}

/// Returns the format of the slices on the HTML page: floats, scaled so that the first stack has
/// the range 0..1.
FrameFormat displayed_format(const io::MediaSource& first) {
  return {.width = first.format().width,
          .height = first.format().height,
          .sample = SampleType::f32,
          .bits = 32};
}

Frame displayed_slice(FramePool& pool, const std::vector<double>& values,
                      const io::MediaSource& first) {
  const io::ValueScale& scale = first.info().values;
  const Frame frame = pool.acquire();
  const PlaneView<float> plane = frame.plane<float>(0);
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      plane(x, y) = static_cast<float>(
          (values[static_cast<std::size_t>(y) * plane.width + x] - scale.low) / scale.span);
  return frame;
}

struct Comparison {
  double range = 0;
  std::vector<VolumeTotals> volumes;
  VolumeTotals all;
};

Comparison compare_all(const CompareOptions& options, io::MediaSource& first,
                       io::MediaSource& second, const std::optional<VolumeMask>& mask,
                       CompareRecord* record) {
  Comparison result;
  result.range = options.range.value_or(0);
  if (!options.range) result.range = range_of(options.first);
  const std::int64_t slices = first.info().slices;
  const std::int64_t volumes = first.info().frames_estimate / slices;
  std::vector<double> a, b;
  FramePool pool(displayed_format(first));
  for (std::int64_t v = 0; v < volumes; ++v) {
    VolumeQuality quality(first.format().width, first.format().height, slices, result.range);
    for (std::int64_t z = 0; z < slices; ++z) {
      const auto slice = first.read(), other = second.read();
      if (!slice || !other) throw InternalError("a stack has fewer slices than its header says");
      first.values_of(*slice, a);
      second.values_of(*other, b);
      if (record)
        record->add(displayed_slice(pool, a, first), displayed_slice(pool, b, first), std::nullopt);
      quality.add(a, b, mask ? mask->of(*slice).get() : nullptr);
    }
    result.volumes.push_back(quality.totals());
    result.all += quality.totals();
  }
  return result;
}

std::string text_of(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::isnan(value) ? "-" : text;
}

std::string psnr_text(const VolumeTotals& totals, double range) {
  return text_of(psnr(totals.mse(), range), "%.4f");
}

void print(const CompareOptions& options, const Comparison& comparison) {
  const VolumeTotals& all = comparison.all;
  std::printf("voxels %lld%s%s\n", static_cast<long long>(all.voxels),
              options.mask.empty() ? "" : " within ", options.mask.c_str());
  if (all.not_finite > 0)
    std::printf("left out %lld (not finite)\n", static_cast<long long>(all.not_finite));
  std::printf("range %.9g\n", comparison.range);
  std::printf("volume       psnr       ssim\n");
  const auto row = [&](const std::string& name, const VolumeTotals& totals) {
    std::printf("%-6s  %9s  %9s\n", name.c_str(), psnr_text(totals, comparison.range).c_str(),
                text_of(totals.ssim(), "%.6f").c_str());
  };
  row("all", all);
  for (std::size_t i = 0; comparison.volumes.size() > 1 && i < comparison.volumes.size(); ++i)
    row(std::to_string(i), comparison.volumes[i]);
}

/// Returns the totals as JSON. The PSNR is null for equal volumes. The SSIM is null if no window
/// fits into the mask.
Json json_of(const VolumeTotals& totals, double range) {
  Json json;
  json["voxels"] = totals.voxels;
  json["not_finite"] = totals.not_finite;
  const auto set = [&json](const char* name, double value) {
    json[name] = std::isfinite(value) ? Json(value) : Json();
  };
  set("mse", totals.mse());
  set("psnr", psnr(totals.mse(), range));
  set("ssim", totals.ssim());
  return json;
}

void print_json(const Comparison& comparison) {
  Json json = json_of(comparison.all, comparison.range);
  json["range"] = comparison.range;
  json["volumes"] = Json::array();
  for (const VolumeTotals& totals : comparison.volumes)
    json["volumes"].push_back(json_of(totals, comparison.range));
  std::printf("%s\n", json_text(json).c_str());
}

/// Returns the printed values as table rows for the HTML page.
std::vector<Cells> totals_rows(const Comparison& comparison) {
  std::vector<Cells> rows{{"volume", "PSNR", "SSIM", "voxels"}};
  const auto row = [&](const std::string& name, const VolumeTotals& totals) {
    rows.push_back({name, psnr_text(totals, comparison.range), text_of(totals.ssim(), "%.6f"),
                    std::to_string(totals.voxels)});
  };
  row("all", comparison.all);
  for (std::size_t i = 0; comparison.volumes.size() > 1 && i < comparison.volumes.size(); ++i)
    row(std::to_string(i), comparison.volumes[i]);
  return rows;
}

}  // namespace

io::TextFileOptions file_options(const CompareOptions& options) {
  return {.overwrite = options.overwrite, .access = options.access};
}

std::unique_ptr<io::TextFile> open_page(const CompareOptions& options) {
  if (options.html.empty()) return nullptr;
  return std::make_unique<io::TextFile>(options.html, file_options(options));
}

void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second) {
  if (options.range && !(*options.range > 0 && std::isfinite(*options.range)))
    throw InvalidArgument("--range " + std::to_string(*options.range) + " (must be above 0)" +
                          "; leave it out to use the range of " + options.first);
  const std::string a = shape_of(first), b = shape_of(second);
  if (a != b)
    throw BadData(options.first + " is of " + a + " voxels, " + options.second + " of " + b +
                  " (only equal sizes can be compared); crop or resample one of them");
  std::optional<VolumeMask> mask;
  if (!options.mask.empty()) mask = read_mask(options.mask, first, {}, false);
  Csv table(options.csv, "volume,psnr,ssim", file_options(options));
  const std::unique_ptr<io::TextFile> page = open_page(options);
  CompareRecord record(displayed_format(first));
  if (first.format().layout == Layout::gray) {
    const std::int64_t slices = first.info().slices;
    record.show_cuts(cut_geometry(first, io::Axis::z), first.info().frames_estimate / slices / 2,
                     slices);
  }
  const Comparison comparison =
      compare_all(options, first, second, mask,
                  page && first.format().layout == Layout::gray ? &record : nullptr);
  for (std::size_t i = 0; i < comparison.volumes.size(); ++i)
    table.row("%zu,%.4f,%.6f\n", i, psnr(comparison.volumes[i].mse(), comparison.range),
              comparison.volumes[i].ssim());
  table.finish();
  if (page) {
    page->write(record.page(options.first, options.second, totals_rows(comparison)));
    page->commit();
  }
  if (options.json)
    print_json(comparison);
  else
    print(options, comparison);
}

}  // namespace lull::tools
