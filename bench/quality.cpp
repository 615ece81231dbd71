// lull_quality PICTURES --sigma 10,25,50 --profile high,balanced --lambda 2.6,2.7 ...: measures the
// PSNR of BM3D over a set of pictures, as in the papers: noise is added in float and not clipped,
// and the result is compared in float. The program measures all combinations of any parameters, for
// tuning and for the tables.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "bench/support/parameter_grid.h"
#include "bench/support/pictures.h"
#include "bm3d/names.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "io/media.h"

namespace {

using namespace lull;
using namespace lull::bench;

struct QualityOptions {
  std::vector<std::string> pictures;
  ParameterGrid grid;
  std::string device = "cpu";  // cpu, reference, cuda, cuda:N
  int streams = bm3d::default_streams, threads = 0, frames = 1;
  unsigned seed = 1;
  int crop_width = 0, crop_height = 0;  // size of the part at the centre; 0: the complete picture
  bool colour = false;                  // filter all planes, not only luma
  bool rounded = false;                 // round noisy pictures and results to 8 bits
  bool basic = true;                    // also the PSNR of the first phase
  bool each = false;                    // print a line for each picture, not only the mean
  std::string guide;                    // see the option --guide; empty: no guide
  std::string csv;
};

/// Parses the command line. If necessary, prints help or an error and exits.
QualityOptions parse(int argc, char** argv) {
  CLI::App app{
      "PSNR of BM3D over a set of pictures, for every combination of the given parameters.\n"
      "Gaussian noise is added in float. Noisy pictures and results are neither rounded nor\n"
      "clipped, as in the papers, unless --rounded is given. Values of lists are separated by\n"
      "commas. Parameters of both phases also accept A:B."};
  QualityOptions o;
  std::string crop;
  app.add_option("PICTURES", o.pictures, "stills, or clips whose first frames are used")
      ->required();
  add_grid_options(app, o.grid);
  app.add_option("--device", o.device, "cpu, reference, cuda or cuda:N");
  app.add_option("--streams", o.streams, "frames in flight on a GPU");
  app.add_option("--threads", o.threads, "threads of the cpu backend; 0: all cores");
  app.add_option("--frames", o.frames, "frames per clip");
  app.add_option("--seed", o.seed, "seed of the noise");
  app.add_option("--crop", crop, "WxH: part in the centre of each picture");
  app.add_flag("--colour", o.colour, "filter all planes, not only luma");
  app.add_flag("--rounded", o.rounded, "round and clip noisy pictures and results to 8 bits");
  app.add_flag("!--no-basic", o.basic, "do not print the PSNR of the first phase");
  app.add_flag("--each", o.each, "print a line for each picture as well");
  app.add_option("--guide", o.guide,
                 "filter with a guide: a level S for the picture itself with other noise of the\n"
                 "level S, or red: filter only the green channel and use the red channel as guide");
  app.add_option("--csv", o.csv, "write all figures to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (!crop.empty()) {
    const Size size = parse_size(crop);
    o.crop_width = size.width;
    o.crop_height = size.height;
  }
  return o;
}

/// A picture as planes on the 0..255 scale.
struct Picture {
  std::string name;
  FrameFormat format;  // format of the float frames
  std::vector<Plane<float>> planes;
  std::vector<Plane<float>> guide;  // without noise; empty: the picture itself

  double megapixels() const { return 1e-6 * format.width * format.height; }
};

struct Figures {
  double noisy = 0, basic = 0, result = 0;  // PSNR in dB over all planes
  double planes[3] = {};                    // of the result, by plane
  double wall = 0, cpu = 0;                 // seconds of both phases
};

PlaneView<const float> cropped(PlaneView<const float> v, int width, int height) {
  const int w = std::min(width, v.width), h = std::min(height, v.height);
  return {v.data + (v.height - h) / 2 * v.stride + (v.width - w) / 2, w, h, v.stride};
}

/// Computes the luma of R, G, B by ITU-R BT.601.
void to_luma(std::vector<Plane<float>>& planes) {
  const auto y = planes[0].view(), g = planes[1].view(), b = planes[2].view();
  for (int v = 0; v < y.height; ++v)
    for (int u = 0; u < y.width; ++u)
      y(u, v) = 0.299f * y(u, v) + 0.587f * g(u, v) + 0.114f * b(u, v);
}

Picture take_picture(const Frame& frame, std::string name, const QualityOptions& options) {
  Picture picture{std::move(name), frame.format, {}};
  picture.format.sample = SampleType::f32;
  picture.format.bits = 32;
  for (int i = 0; i < frame.format.planes(); ++i) {
    picture.planes.emplace_back(frame.format.plane_width(i), frame.format.plane_height(i));
    load_plane(frame, i, picture.planes[i].view());
  }
  const bool in_red = options.guide == "red" && frame.format.layout == Layout::rgb;
  if ((!options.colour || in_red) && frame.format.layout != Layout::gray) {
    if (in_red) {
      std::swap(picture.planes[0], picture.planes[1]);
      picture.guide.push_back(std::move(picture.planes[1]));
    } else if (frame.format.layout == Layout::rgb) {
      to_luma(picture.planes);
    }
    picture.planes.resize(1);
    picture.format = {.width = frame.format.width,
                      .height = frame.format.height,
                      .sample = SampleType::f32,
                      .bits = 32};
  }
  if (options.crop_width > 0) {
    // The offsets are multiples of the chroma subsampling, so that the centres of luma and chroma
    // coincide.
    picture.format.width = std::min(options.crop_width & ~3, picture.format.width);
    picture.format.height = std::min(options.crop_height & ~3, picture.format.height);
    for (auto* planes : {&picture.planes, &picture.guide})
      for (std::size_t i = 0; i < planes->size(); ++i) {
        const auto part =
            cropped((*planes)[i].view(), picture.format.plane_width(static_cast<int>(i)),
                    picture.format.plane_height(static_cast<int>(i)));
        Plane<float> plane(part.width, part.height);
        for (int y = 0; y < part.height; ++y)
          std::copy_n(part.row(y), part.width, plane.view().row(y));
        (*planes)[i] = std::move(plane);
      }
  }
  return picture;
}

std::vector<Picture> load_pictures(const QualityOptions& options) {
  std::vector<Picture> pictures;
  for (const std::string& path : options.pictures) {
    const auto source = io::open_source(path);
    for (int n = 0; n < options.frames; ++n) {
      const auto frame = source->read();
      if (!frame) break;
      const std::string name = path.substr(path.find_last_of('/') + 1);
      pictures.push_back(take_picture(
          *frame, options.frames > 1 ? name + "#" + std::to_string(n) : name, options));
    }
  }
  return pictures;
}

/// Rounds the samples like those of an 8-bit file.
void round_samples(Frame& frame) {
  for (int i = 0; i < frame.format.planes(); ++i) {
    const auto plane = frame.plane<float>(i);
    for (int y = 0; y < plane.height; ++y)
      for (float* sample = plane.row(y); sample != plane.row(y) + plane.width; ++sample)
        *sample = std::clamp(std::round(255 * *sample), 0.0f, 255.0f) / 255;
  }
}

Frame add_noise(const FrameFormat& format, const std::vector<Plane<float>>& planes, double sigma,
                std::uint64_t seed) {
  Frame frame = FramePool(format).acquire();
  Gaussian gaussian(seed);
  for (int i = 0; i < format.planes(); ++i) {
    const auto clean = planes[i].view();
    const auto noisy = frame.plane<float>(i);
    for (int y = 0; y < clean.height; ++y)
      for (int x = 0; x < clean.width; ++x)
        noisy(x, y) = static_cast<float>((clean(x, y) + sigma * gaussian()) / 255);
  }
  return frame;
}

/// Returns the guide that the option --guide describes.
std::shared_ptr<const Frame> make_guide(const Picture& picture, const QualityOptions& options,
                                        std::uint64_t seed) {
  if (options.guide.empty()) return {};
  const double sigma = options.guide == "red" ? 0 : std::stod(options.guide);
  const auto& planes = picture.guide.empty() ? picture.planes : picture.guide;
  return std::make_shared<const Frame>(add_noise(picture.format, planes, sigma, seed + 77));
}

double mean_squared_error(const Picture& clean, const Frame& frame, int plane) {
  const auto a = clean.planes[plane].view();
  const auto b = frame.plane<float>(plane);
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const double d = static_cast<double>(a(x, y)) - 255.0 * static_cast<double>(b(x, y));
      sum += d * d;
    }
  return sum / a.width / a.height;
}

double decibels(double mse) { return 10 * std::log10(255.0 * 255.0 / mse); }

/// Returns the mean PSNR over all planes with equal weights.
double psnr(const Picture& clean, const Frame& frame) {
  double sum = 0;
  for (int i = 0; i < clean.format.planes(); ++i) sum += mean_squared_error(clean, frame, i);
  return decibels(sum / clean.format.planes());
}

Frame denoise(Denoiser& session, const Frame& noisy) {
  auto out = session.push(noisy);
  if (!out) out = session.drain();
  return out.value();
}

Figures measure(const Picture& picture, const Frame& noisy, const Configuration& configuration,
                const QualityOptions& options) {
  const bm3d::Backend backend = backend_of(options.device, options.streams, options.threads);
  Figures figures;
  figures.noisy = psnr(picture, noisy);
  if (options.basic && configuration.params.phases == 2) {
    bm3d::Params first = configuration.params;
    first.phases = 1;
    figures.basic = psnr(picture, denoise(*open(first, picture.format, backend), noisy));
  }
  bm3d::Params params = configuration.params;
  params.guided = noisy.guide != nullptr;
  const auto session = open(params, picture.format, backend);
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  Frame clean = denoise(*session, noisy);
  figures.cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  figures.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.rounded) round_samples(clean);
  figures.result = psnr(picture, clean);
  for (int i = 0; i < picture.format.planes(); ++i)
    figures.planes[i] = decibels(mean_squared_error(picture, clean, i));
  if (configuration.params.phases == 1) figures.basic = figures.result;
  return figures;
}

std::string describe(const Configuration& c) {
  const bm3d::PhaseParams &a = c.params.hard, &b = c.params.wiener;
  char text[400];
  std::snprintf(text, sizeof text,
                "%g,%s,%d:%d,%d:%d,%d:%d,%g:%g,%s:%s,%s:%s,%g:%g,%g,%g,%g,%g,%d,"
                "%d",
                static_cast<double>(c.sigma), c.profile.c_str(), a.window, b.window, a.group,
                b.group, a.step, b.step, static_cast<double>(a.tau), static_cast<double>(b.tau),
                name_of(a.transform).data(), name_of(b.transform).data(),
                name_of(a.group_transform).data(), name_of(b.group_transform).data(),
                static_cast<double>(a.kaiser), static_cast<double>(b.kaiser),
                static_cast<double>(c.params.lambda), static_cast<double>(c.params.lambda_mean),
                static_cast<double>(c.params.mu2), static_cast<double>(c.params.guide_noise),
                c.params.phases, c.params.kept);
  return text;
}

constexpr const char* header =
    "sigma,profile,window,group,step,tau,transform,group_transform,kaiser,lambda,lambda_mean,mu2,"
    "guide_noise,"
    "phases,kept,"
    "picture,psnr_noisy,psnr_basic,psnr,psnr_plane0,psnr_plane1,psnr_plane2,wall_s,"
    "cpu_s_per_mpixel";

std::string row(const Configuration& c, const std::string& picture, const Figures& f,
                double megapixels) {
  char text[300];
  std::snprintf(text, sizeof text, "%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,%.3f", f.noisy, f.basic,
                f.result, f.planes[0], f.planes[1], f.planes[2], f.wall, f.cpu / megapixels);
  return describe(c) + "," + picture + "," + text;
}

void run(const QualityOptions& options) {
  const std::vector<Picture> pictures = load_pictures(options);
  const std::vector<Configuration> all = configurations(options.grid);
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv);
    if (!csv) throw CannotCreate(options.csv + " (cannot be written); choose another name");
    csv << header << '\n';
  }
  std::cout << header << '\n';
  for (const Configuration& configuration : all) {
    Figures sum;
    double megapixels = 0;
    for (std::size_t n = 0; n < pictures.size(); ++n) {
      const Picture& picture = pictures[n];
      const std::uint64_t seed = options.seed + 1000003 * n;
      Frame noisy =
          add_noise(picture.format, picture.planes, static_cast<double>(configuration.sigma), seed);
      if (options.rounded) round_samples(noisy);
      noisy.guide = make_guide(picture, options, seed);
      const Figures figures = measure(picture, noisy, configuration, options);
      const std::string line = row(configuration, picture.name, figures, picture.megapixels());
      if (csv.is_open()) csv << line << std::endl;
      if (options.each) std::cout << line << std::endl;
      const double share = 1.0 / static_cast<double>(pictures.size());
      sum.noisy += figures.noisy * share;
      sum.basic += figures.basic * share;
      sum.result += figures.result * share;
      for (int i = 0; i < 3; ++i) sum.planes[i] += figures.planes[i] * share;
      sum.wall += figures.wall;
      sum.cpu += figures.cpu;
      megapixels += picture.megapixels();
    }
    const std::string line = row(configuration, "mean", sum, megapixels);
    if (csv.is_open()) csv << line << std::endl;
    std::cout << line << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "lull_quality: " << error.what() << '\n';
    return 1;
  }
}
