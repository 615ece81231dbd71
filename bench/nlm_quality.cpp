// lull_nlm_quality FILES --sigma 10,25,50 --profile fast,high --temporal 0,2 --h 0.8,0.9 ...:
// measures PSNR and CPU-seconds of non-local means on pictures, clips and volumes. Gaussian noise
// is added in float, neither rounded nor clipped, and results are compared in float. For clips the
// PSNR is that of luma, or with --colour that of all planes (RGB jointly). Volumes (NIfTI) are
// scaled to a maximum of 255, and voxels above 15 are compared; with --rician their noise is
// Rician. With --cluster TILE:LEAF:TILINGS,paper the program averages the groups that clusters find
// (as with lull's option --matcher cluster).

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "bm3d/bm3d.h"
#include "bm3d/names.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "io/media.h"
#include "match/clusters.h"
#include "nlm/names.h"
#include "nlm/nlm.h"
#include "noise/volume/vst_volume.h"

namespace {

using namespace lull;

struct Options {
  std::vector<std::string> files, profiles{"balanced"}, clusters;
  std::vector<double> sigmas{20};
  std::vector<int> temporal{0}, searches{-1}, patches{-1}, blocks{-1}, steps{-1};
  std::vector<float> hs{-1}, mean_terms{-1}, corrections{-1};
  std::string device = "cpu", weights;
  int frames = 1 << 20, threads = 1;
  std::uint64_t seed = 1;
  std::vector<int> crop;  // for volumes: x0 x1 y0 y1 z0 z1
  bool colour = false, each = false, rician = false;
};

/// Float frames on the 0..255 scale.
struct Clip {
  std::string name;
  bool volume = false;
  FrameFormat format;
  std::vector<Frame> frames;
  double megasamples() const {
    return 1e-6 * format.width * format.height * static_cast<double>(frames.size());
  }
};

template <class Use>
void each_sample(const Frame& frame, int plane, Use&& use) {
  for (int y = 0; y < frame.format.plane_height(plane); ++y)
    for (int x = 0; x < frame.format.plane_width(plane); ++x) use(x, y);
}

/// Writes the luma of R, G and B (ITU-R BT.601) into the first plane.
void to_luma(const Frame& rgb, const Frame& luma) {
  Plane<float> planes[3];
  for (int i = 0; i < 3; ++i) {
    planes[i] = Plane<float>(rgb.format.width, rgb.format.height);
    load_plane(rgb, i, planes[i].view());
  }
  each_sample(luma, 0, [&](int x, int y) {
    luma.plane<float>(0)(x, y) = 0.299f * planes[0].view()(x, y) + 0.587f * planes[1].view()(x, y) +
                                 0.114f * planes[2].view()(x, y);
  });
}

Clip load(const std::string& path, const Options& options) {
  const auto source = io::open_source(path);
  Clip clip{.name = path.substr(path.find_last_of('/') + 1), .volume = source->info().stack};
  clip.format = source->format();
  if (!options.colour) clip.format = {.width = clip.format.width, .height = clip.format.height};
  clip.format.sample = SampleType::f32;
  clip.format.bits = 32;
  clip.format.white = 255;
  const int columns = clip.format.width;
  int x0 = 0, y0 = 0;
  if (clip.volume && !options.crop.empty()) {
    x0 = options.crop[0], y0 = options.crop[2];
    clip.format.width = options.crop[1] - x0;
    clip.format.height = options.crop[3] - y0;
  }
  FramePool pool(clip.format);
  std::vector<double> values;
  double max_value = 0;
  for (int n = 0; n < options.frames; ++n) {
    const auto frame = source->read();
    if (!frame) break;
    if (!options.crop.empty() && (n < options.crop[4] || n >= options.crop[5])) continue;
    Frame& to = clip.frames.emplace_back(pool.acquire());
    to.slice = clip.volume ? n : -1;
    if (clip.volume) {
      source->values_of(*frame, values);
      each_sample(to, 0, [&](int x, int y) {
        const double v = values[static_cast<std::size_t>(y + y0) * columns + x + x0];
        to.plane<float>(0)(x, y) = static_cast<float>(v);
        max_value = std::max(max_value, v);
      });
    } else if (!options.colour && frame->format.layout == Layout::rgb) {
      to_luma(*frame, to);
    } else {
      for (int i = 0; i < clip.format.planes(); ++i) load_plane(*frame, i, to.plane<float>(i));
    }
  }
  for (const Frame& frame : clip.frames)
    if (clip.volume)
      each_sample(frame, 0, [&](int x, int y) {
        frame.plane<float>(0)(x, y) *= static_cast<float>(255 / max_value);
      });
  return clip;
}

std::vector<Frame> add_noise(const Clip& clip, double sigma, const Options& options) {
  bench::Gaussian noise(options.seed);
  FramePool pool(clip.format);
  std::vector<Frame> noisy;
  for (const Frame& clean : clip.frames) {
    Frame& frame = noisy.emplace_back(pool.acquire());
    frame.slice = clean.slice;
    for (int i = 0; i < clip.format.planes(); ++i)
      each_sample(frame, i, [&](int x, int y) {
        const double v = static_cast<double>(clean.plane<float>(i)(x, y)) + sigma * noise();
        frame.plane<float>(i)(x, y) =
            static_cast<float>(options.rician ? std::hypot(v, sigma * noise()) : v);
      });
  }
  return noisy;
}

double decibels(const Clip& clip, const std::vector<Frame>& results) {
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < results.size(); ++n)
    for (int i = 0; i < clip.format.planes(); ++i)
      each_sample(results[n], i, [&](int x, int y) {
        const auto v = static_cast<double>(clip.frames[n].plane<float>(i)(x, y));
        if (clip.volume && v <= 15) return;
        const double d = v - static_cast<double>(results[n].plane<float>(i)(x, y));
        sum += d * d, ++count;
      });
  return 10 * std::log10(255 * 255 * count / sum);
}

struct Figures {
  double psnr = 0, cpu = 0;  // PSNR in dB; CPU seconds per megasample of the first plane
};

/// A function that opens a session with the parameters of a setting.
using Opener =
    std::function<std::unique_ptr<Denoiser>(const FrameFormat& format, const bm3d::Backend&)>;

Figures measure(const Clip& clip, const std::vector<Frame>& noisy, const Opener& open, double sigma,
                const Options& options) {
  const bm3d::Backend backend{.kind = options.device == "cuda"        ? BackendKind::cuda
                                      : options.device == "reference" ? BackendKind::reference
                                                                      : BackendKind::cpu,
                              .threads = options.threads};
  std::unique_ptr<Denoiser> session = open(clip.format, backend);
  if (options.rician)
    session = with_vst({.kind = NoiseKind::rician, .sigma = static_cast<float>(sigma)}, clip.format,
                       std::move(session));
  Figures figures;
  for (int pass = 0; pass < 2; ++pass) {  // the first pass warms up memory
    std::vector<Frame> results;
    const std::clock_t start = std::clock();
    for (const Frame& frame : noisy)
      for (auto out = session->push(frame); out; out = session->next())
        results.push_back(*std::move(out));
    while (auto out = session->drain()) results.push_back(*std::move(out));
    figures.cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / clip.megasamples();
    figures.psnr = decibels(clip, results);
  }
  return figures;
}

template <class Value>
void set_if(Value& to, Value from) {
  if (from >= 0) to = from;
}

/// Calls run(opener, text) for every combination of the options for averages of groups.
template <class Run>
void each_group_setting(const Options& o, double sigma, Run&& run) {
  const auto s = static_cast<float>(sigma);
  for (const std::string& text : o.clusters)
    for (const std::string& profile : o.profiles)
      for (const int temporal : o.temporal)
        for (const int step : o.steps)
          for (const float h : o.hs) {
            const auto which = parse_name<Profile>(profile);
            const auto clusters = parse_clusters(text);
            if (!which || !clusters)
              throw std::runtime_error("unknown profile " + profile + " or clusters " + text);
            bm3d::Params p =
                bm3d::make_means_params(*which, NoiseModel({s, s, s}), temporal, *clusters);
            set_if(p.means->h, h), set_if(p.hard.step, step);
            char name[160];
            std::snprintf(name, sizeof name, "%s R %d clusters %s step %d h %g", profile.c_str(),
                          temporal, text.c_str(), p.hard.step, static_cast<double>(p.means->h));
            run([p](const FrameFormat& format,
                    const bm3d::Backend& backend) { return bm3d::open(p, format, backend); },
                std::string(name));
          }
}

/// Calls run(opener, text) for every combination of the options.
template <class Run>
void each_setting(const Options& o, bool volume, double sigma, Run&& run) {
  const auto s = static_cast<float>(sigma);
  for (const std::string& profile : o.profiles)
    for (const int temporal : o.temporal)
      for (const int block : o.blocks)
        for (const int step : o.steps)
          for (const int patch : o.patches)
            for (const int search : o.searches)
              for (const float mean_term : o.mean_terms)
                for (const float correction : o.corrections)
                  for (const float h : o.hs) {
                    const auto which = parse_name<Profile>(profile);
                    if (!which) throw std::runtime_error("unknown profile '" + profile + "'");
                    nlm::Params p = volume
                                        ? nlm::make_volume_params(*which, NoiseModel({s, s, s}))
                                        : nlm::make_params(*which, NoiseModel({s, s, s}), temporal);
                    set_if(p.block, block), set_if(p.step, step), set_if(p.patch_radius, patch);
                    set_if(p.search_radius, search), set_if(p.h, h);
                    set_if(p.mean_term, mean_term), set_if(p.correction, correction);
                    if (const auto weights = parse_name<nlm::Weights>(o.weights))
                      p.weights = *weights;
                    char text[160];
                    std::snprintf(text, sizeof text,
                                  "%s R %d block %d step %d patch %d search %d h %g beta %g c %g",
                                  profile.c_str(), p.temporal, p.block, p.step, p.patch_radius,
                                  p.search_radius, static_cast<double>(p.h),
                                  static_cast<double>(p.mean_term),
                                  static_cast<double>(p.correction));
                    run([p](const FrameFormat& format,
                            const nlm::Backend& backend) { return nlm::open(p, format, backend); },
                        std::string(text));
                  }
}

void run(const Options& options) {
  std::vector<Clip> clips;
  for (const std::string& file : options.files) clips.push_back(load(file, options));
  std::printf("sigma,setting,clip,psnr,cpu_s_per_mpixel\n");
  for (const double sigma : options.sigmas) {
    std::vector<std::vector<Frame>> noisy;
    for (const Clip& clip : clips) noisy.push_back(add_noise(clip, sigma, options));
    const auto measure_all = [&](const Opener& open, const std::string& text) {
      Figures mean;
      const auto count = static_cast<double>(clips.size());
      for (std::size_t i = 0; i < clips.size(); ++i) {
        const Figures f = measure(clips[i], noisy[i], open, sigma, options);
        if (options.each)
          std::printf("%g,%s,%s,%.3f,%.4f\n", sigma, text.c_str(), clips[i].name.c_str(), f.psnr,
                      f.cpu);
        mean.psnr += f.psnr / count, mean.cpu += f.cpu / count;
      }
      std::printf("%g,%s,mean,%.3f,%.4f\n", sigma, text.c_str(), mean.psnr, mean.cpu);
      std::fflush(stdout);
    };
    if (options.clusters.empty())
      each_setting(options, clips.front().volume, sigma, measure_all);
    else
      each_group_setting(options, sigma, measure_all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{
      "PSNR and CPU-seconds of non-local means, for every combination of the given values"};
  app.add_option("FILES", o.files, "pictures, clips, or volumes")->required();
  app.add_option("--sigma", o.sigmas, "noise levels on the 0..255 scale")->delimiter(',');
  app.add_option("--profile", o.profiles)->delimiter(',');
  app.add_option("--temporal", o.temporal)->delimiter(',');
  app.add_option("--cluster", o.clusters, "TILE:LEAF:TILINGS, or paper")->delimiter(',');
  app.add_option("--block", o.blocks)->delimiter(',');
  app.add_option("--step", o.steps)->delimiter(',');
  app.add_option("--patch", o.patches, "patch radius")->delimiter(',');
  app.add_option("--search", o.searches, "search radius")->delimiter(',');
  app.add_option("--nlm-h", o.hs)->delimiter(',');
  app.add_option("--mean-term", o.mean_terms)->delimiter(',');
  app.add_option("--correction", o.corrections)->delimiter(',');
  app.add_option("--weights", o.weights, "exp or poly");
  app.add_option("--frames", o.frames, "maximum number of frames per clip");
  app.add_option("--crop", o.crop, "part of a volume: x0 x1 y0 y1 z0 z1")->expected(6);
  app.add_option("--seed", o.seed, "seed of the noise");
  app.add_option("--device", o.device, "cpu, reference or cuda");
  app.add_option("--threads", o.threads, "threads of the cpu backend");
  app.add_flag("--colour", o.colour, "filter all planes, not only luma");
  app.add_flag("--rician", o.rician, "Rician noise, for volumes");
  app.add_flag("--each", o.each, "print a line for each clip");
  CLI11_PARSE(app, argc, argv);
  try {
    run(o);
  } catch (const std::exception& error) {
    std::cerr << "lull_nlm_quality: " << error.what() << '\n';
    return 1;
  }
}
