#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "io/media.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"
#include "tools/commands/compare_volumes.h"
#include "tools/commands/csv.h"
#include "tools/commands/quality.h"
#include "tools/options/run_files.h"
#include "tools/pages/compare_page.h"
#include "tools/pages/sections.h"
#include "tools/report/json.h"

namespace lull::tools {
namespace {

std::string_view plane_name(Layout layout, int plane) {
  constexpr std::string_view yuv[] = {"Y", "Cb", "Cr"}, rgb[] = {"R", "G", "B"};
  return layout == Layout::rgb ? rgb[plane] : yuv[plane];
}

void require_equal(const CompareOptions& options, const FrameFormat& a, const FrameFormat& b) {
  if (a == b) return;
  throw BadData(options.first + " is " + describe(a) + ", " + options.second + " is " +
                describe(b) + " (only equal formats can be compared); convert one of them");
}

void refuse_volume_options(const CompareOptions& options) {
  const char* option = !options.mask.empty() ? "--mask" : options.range ? "--range" : nullptr;
  if (option)
    throw InvalidArgument(std::string(option) + " for " + options.first + " and " + options.second +
                          " (they are not volumes); leave it out");
}

/// Sums of PSNR, MSE and SSIM of one plane over all frames, and the frames with the lowest PSNR and
/// SSIM.
struct PlaneTotal {
  double psnr_sum = 0, mse_sum = 0, ssim_sum = 0;
  double psnr_worst = 0, ssim_worst = 0;
  std::int64_t psnr_frame = -1, ssim_frame = -1;
  std::int64_t not_finite = 0;

  void add(const PlaneQuality& quality, std::int64_t frame) {
    psnr_sum += quality.psnr;
    mse_sum += quality.mse;
    ssim_sum += quality.ssim;
    not_finite += quality.not_finite;
    if (psnr_frame < 0 || quality.psnr < psnr_worst) psnr_worst = quality.psnr, psnr_frame = frame;
    if (ssim_frame < 0 || quality.ssim < ssim_worst) ssim_worst = quality.ssim, ssim_frame = frame;
  }
};

/// Writes the quality of one plane of one frame as a row of the CSV file.
void add_row(Csv& csv, std::int64_t frame, std::string_view plane, const PlaneQuality& quality) {
  csv.row("%lld,%s,%.4f,%.6f\n", static_cast<long long>(frame), plane.data(), quality.psnr,
          quality.ssim);
}

void print(const FrameFormat& format, std::int64_t frames, const std::vector<PlaneTotal>& totals) {
  std::printf("frames %lld\n", static_cast<long long>(frames));
  std::int64_t not_finite = 0;
  for (const PlaneTotal& total : totals) not_finite += total.not_finite;
  if (not_finite > 0)
    std::printf("left out %lld (not finite)\n", static_cast<long long>(not_finite));
  std::printf("plane  psnr_mean  psnr_all  psnr_worst  frame  ssim_mean  ssim_worst  frame\n");
  const auto count = static_cast<double>(frames);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const PlaneTotal& t = totals[i];
    std::printf("%-5s  %9.4f  %8.4f  %10.4f  %5lld  %9.6f  %10.6f  %5lld\n",
                plane_name(format.layout, static_cast<int>(i)).data(), t.psnr_sum / count,
                psnr(t.mse_sum / count, format.full_scale()), t.psnr_worst,
                static_cast<long long>(t.psnr_frame), t.ssim_sum / count, t.ssim_worst,
                static_cast<long long>(t.ssim_frame));
  }
}

/// Prints the results as JSON. Equal planes have an infinite PSNR, represented as null.
void print_json(const FrameFormat& format, std::int64_t frames,
                const std::vector<PlaneTotal>& totals) {
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const auto count = static_cast<double>(frames);
  Json planes = Json::array();
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const PlaneTotal& t = totals[i];
    planes.push_back({{"plane", plane_name(format.layout, static_cast<int>(i))},
                      {"not_finite", t.not_finite},
                      {"psnr_mean", finite(t.psnr_sum / count)},
                      {"psnr_all", finite(psnr(t.mse_sum / count, format.full_scale()))},
                      {"psnr_worst", finite(t.psnr_worst)},
                      {"psnr_worst_frame", t.psnr_frame},
                      {"ssim_mean", finite(t.ssim_sum / count)},
                      {"ssim_worst", finite(t.ssim_worst)},
                      {"ssim_worst_frame", t.ssim_frame}});
  }
  std::printf("%s\n", json_text({{"frames", frames}, {"planes", planes}}).c_str());
}

FrameFigures figures_of(const std::vector<PlaneQuality>& qualities) {
  FrameFigures figures;
  for (std::size_t i = 0; i < qualities.size(); ++i)
    figures.psnr[i] = qualities[i].psnr, figures.ssim[i] = qualities[i].ssim;
  return figures;
}

/// Returns the printed values as a table for the HTML page.
std::vector<Cells> totals_table(const FrameFormat& format, std::int64_t frames,
                                const std::vector<PlaneTotal>& totals) {
  std::vector<Cells> rows{
      {"plane", "PSNR, mean", "of all frames", "worst", "frame", "SSIM, mean", "worst", "frame"}};
  const auto count = static_cast<double>(frames);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const PlaneTotal& t = totals[i];
    rows.push_back({std::string(plane_name(format.layout, static_cast<int>(i))),
                    number_text("%.4f", t.psnr_sum / count),
                    number_text("%.4f", psnr(t.mse_sum / count, format.full_scale())),
                    number_text("%.4f", t.psnr_worst), std::to_string(t.psnr_frame),
                    number_text("%.6f", t.ssim_sum / count), number_text("%.6f", t.ssim_worst),
                    std::to_string(t.ssim_frame)});
  }
  return rows;
}

/// Checks and returns the files of the command.
/// @throws InvalidArgument  an output would overwrite another file of the command
RunFiles checked_files(const CompareOptions& options) {
  RunFiles files;
  files.read_samples("A", options.first);
  files.read_samples("B", options.second);
  files.read_samples("--mask", options.mask);
  files.write("--csv", options.csv);
  files.write("--html", options.html);
  files.check();
  return files;
}

}  // namespace

int compare(const CompareOptions& given) {
  CompareOptions options = given;
  options.access = checked_files(options).access();
  const auto first = io::open_source(options.first), second = io::open_source(options.second);
  if (first->info().stack && second->info().stack) {
    compare_volumes(options, *first, *second);
    return 0;
  }
  refuse_volume_options(options);
  const FrameFormat format = first->format();
  require_equal(options, format, second->format());

  Csv csv(options.csv, "frame,plane,psnr,ssim", file_options(options));
  const std::unique_ptr<io::TextFile> page = open_page(options);
  CompareRecord record(format);
  std::vector<PlaneTotal> totals(format.planes());
  std::int64_t frames = 0;
  for (;; ++frames) {
    const auto a = first->read(), b = second->read();
    if (a.has_value() != b.has_value())
      throw BadData((a ? options.second : options.first) + " ends after " + std::to_string(frames) +
                    " frames, " + (a ? options.first : options.second) +
                    " has more (both must have the same number of frames); cut the longer one");
    if (!a) break;
    require_equal(options, a->format, b->format);
    require_equal(options, format, a->format);
    const std::vector<PlaneQuality> qualities = compare_frames(*a, *b);
    if (page) record.add(*a, *b, figures_of(qualities));
    for (std::size_t i = 0; i < qualities.size(); ++i) {
      totals[i].add(qualities[i], frames);
      add_row(csv, frames, plane_name(format.layout, static_cast<int>(i)), qualities[i]);
    }
  }
  if (frames == 0)
    throw BadData(options.first + " holds no frame (it ended before the first); check the file");
  csv.finish();
  if (page) {
    page->write(record.page(options.first, options.second, totals_table(format, frames, totals)));
    page->commit();
  }
  if (options.json)
    print_json(format, frames, totals);
  else
    print(format, frames, totals);
  return 0;
}

}  // namespace lull::tools
