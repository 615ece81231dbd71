#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "io/media.h"
#include "tools/commands/commands.h"
#include "tools/commands/quality.h"

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

/// Stacks are mapped to their own range of values each: brings the float samples of `frame` to the
/// other's.
void rescale(const Frame& frame, const io::ValueScale& from, const io::ValueScale& to) {
  if (frame.format.sample != SampleType::f32 || (from.low == to.low && from.span == to.span))
    return;
  const PlaneView<float> samples = frame.plane<float>(0);
  for (int y = 0; y < samples.height; ++y)
    for (float& v : std::span(samples.row(y), samples.width))
      v = static_cast<float>((from.low + v * from.span - to.low) / to.span);
}

/// Running figures of one plane.
struct PlaneTotal {
  double psnr_sum = 0, mse_sum = 0, ssim_sum = 0;
  double psnr_worst = 0, ssim_worst = 0;
  std::int64_t psnr_frame = -1, ssim_frame = -1;

  void add(const PlaneQuality& quality, std::int64_t frame) {
    psnr_sum += quality.psnr;
    mse_sum += quality.mse;
    ssim_sum += quality.ssim;
    if (psnr_frame < 0 || quality.psnr < psnr_worst) psnr_worst = quality.psnr, psnr_frame = frame;
    if (ssim_frame < 0 || quality.ssim < ssim_worst) ssim_worst = quality.ssim, ssim_frame = frame;
  }
};

/// The CSV file: one row for each plane of each frame.
class Csv {
 public:
  explicit Csv(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.reset(std::fopen(path.c_str(), "w"));
    if (!file_)
      throw CannotCreate(path +
                         " cannot be created (no such folder, or no right to write); "
                         "choose another name");
    std::fputs("frame,plane,psnr,ssim\n", file_.get());
  }
  void row(std::int64_t frame, std::string_view plane, const PlaneQuality& quality) {
    if (!file_) return;
    std::fprintf(file_.get(), "%lld,%s,%.4f,%.6f\n", static_cast<long long>(frame), plane.data(),
                 quality.psnr, quality.ssim);
  }
  void finish() {
    if (!file_) return;
    const bool failed = std::ferror(file_.get()) != 0;
    if (std::fclose(file_.release()) != 0 || failed)
      throw IoError("writing " + path_ + " failed (is the disk full?); free some space");
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

void print(const FrameFormat& format, std::int64_t frames, const std::vector<PlaneTotal>& totals) {
  std::printf("frames %lld\n", static_cast<long long>(frames));
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

}  // namespace

int compare(const CompareOptions& options) {
  for (const std::string& input : {options.first, options.second})
    if (!options.csv.empty() && io::same_file(input, options.csv))
      throw InvalidArgument("the CSV file " + options.csv +
                            " is an input (it would be overwritten); choose another name");
  const auto first = io::open_source(options.first), second = io::open_source(options.second);
  const FrameFormat format = first->format();
  require_equal(options, format, second->format());

  Csv csv(options.csv);
  std::vector<PlaneTotal> totals(format.planes());
  std::int64_t frames = 0;
  for (;; ++frames) {
    const auto a = first->read(), b = second->read();
    if (a.has_value() != b.has_value())
      throw BadData((a ? options.second : options.first) + " ends after " + std::to_string(frames) +
                    " frames, " + (a ? options.first : options.second) +
                    " goes on (frames are compared one by one); cut the longer one");
    if (!a) break;
    require_equal(options, a->format, b->format);
    require_equal(options, format, a->format);
    rescale(*b, second->info().values, first->info().values);
    const std::vector<PlaneQuality> qualities = compare_frames(*a, *b);
    for (std::size_t i = 0; i < qualities.size(); ++i) {
      totals[i].add(qualities[i], frames);
      csv.row(frames, plane_name(format.layout, static_cast<int>(i)), qualities[i]);
    }
  }
  if (frames == 0)
    throw BadData(options.first + " holds no frame (it ended before the first); check the file");
  csv.finish();
  print(format, frames, totals);
  return 0;
}

}  // namespace lull::tools
