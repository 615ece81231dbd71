// lull_nlm_bench: measures the time of the non-local means kernels on a GPU, without copies (with
// events, median of many runs), and the PSNR. Pictures: a grey picture with every profile, and a
// colour picture of 720x480, the size that Marques and Pardo use. Volumes: both noise levels of the
// usual tables, or volumes of pure noise with a given size, because the time does not depend on the
// content.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "bench/support/device_time.h"
#include "bench/support/gaussian.h"
#include "bench/support/pictures.h"
#include "core/plane.h"
#include "core/samples.h"
#include "cuda/staging.h"
#include "io/media.h"
#include "nlm/cuda/filters.h"
#include "nlm/names.h"

namespace {

using namespace lull;
using namespace lull::bench;
using lull::nlm::Params;
using lull::nlm::Profile;

struct Options {
  std::string noisy, clean, volume;
  std::vector<int> crop;             // x0 x1 y0 y1 z0 z1
  std::vector<double> levels{3, 9};  // noise levels in percent of the volume's maximum
  std::vector<int> cubes;            // sides of noise volumes
  double sigma = 20;
  int device = 0, repeats = 50;
};

Options parse(int argc, char** argv) {
  CLI::App app{"Kernel times of non-local means on a GPU, with the PSNR."};
  Options o;
  app.add_option("NOISY", o.noisy, "a grey picture; its first plane is used");
  app.add_option("--clean", o.clean, "clean version of the picture");
  app.add_option("--sigma", o.sigma, "noise level of the picture");
  app.add_option("--volume", o.volume, "a clean volume");
  app.add_option("--crop", o.crop, "part of the volume: x0,x1,y0,y1,z0,z1")
      ->delimiter(',')
      ->expected(6);
  app.add_option("--levels", o.levels, "noise levels in percent of the maximum")->delimiter(',');
  app.add_option("--cubes", o.cubes, "sides of noise volumes in voxels")->delimiter(',');
  app.add_option("--device", o.device, "number of the GPU");
  app.add_option("--repeats", o.repeats, "number of runs; the median is printed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

double psnr_of(double squares, double samples) {
  return 10 * std::log10(255.0 * 255.0 * samples / squares);
}

/// The same planes with and without noise, all of one size.
struct Picture {
  std::vector<Plane<float>> noisy, clean;
  int width() const { return clean[0].width(); }
  int height() const { return clean[0].height(); }
};

Plane<float> plane_of(const Frame& frame, int i) {
  Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
  load_plane(frame, i, plane.view());
  return plane;
}

double psnr_of(const std::vector<Plane<float>>& a, const std::vector<Plane<float>>& b) {
  double squares = 0, samples = 0;
  for (std::size_t c = 0; c < a.size(); ++c)
    for (int y = 0; y < a[c].height(); ++y)
      for (int x = 0; x < a[c].width(); ++x) {
        // The samples are rounded and clipped like 8-bit samples.
        const float v = std::clamp(std::round(a[c].view()(x, y)), 0.0f, 255.0f);
        const double d = static_cast<double>(v - b[c].view()(x, y));
        squares += d * d, ++samples;
      }
  return psnr_of(squares, samples);
}

/// Device memory for a plane that is uploaded to a filter.
class FlatPlane {
 public:
  FlatPlane(int width, int height) : memory_(Margins::none(width, height).size()) {}
  const float* uploaded(PlaneView<const float> from, cudaStream_t stream) {
    staging_.upload(cuda::bytes_of(from), memory_.get(), pitch(from.width), stream);
    return memory_.get();
  }
  /// Downloads a result of the filter from device memory.
  void download(const float* from, PlaneView<float> to, cudaStream_t stream) {
    staging_.download(from, pitch(to.width), cuda::bytes_of(to), stream);
  }

 private:
  static std::size_t pitch(int width) { return Margins::flat_pitch(width) * sizeof(float); }
  cuda::DeviceBuffer<float> memory_;
  cuda::Staging staging_;
};

void measure_picture(const Options& o, const Picture& picture, Profile profile) {
  const auto planes = static_cast<int>(picture.clean.size());
  const auto sigma = static_cast<float>(o.sigma);
  const Params params = nlm::make_params(profile, NoiseModel({sigma, sigma, sigma}));
  nlm::FramePlan plan{.params = params,
                      .width = picture.width(),
                      .height = picture.height(),
                      .planes = planes,
                      .guides = planes};
  const cuda::Stream stream = cuda::make_stream();
  nlm::cuda::Planes3 samples{};
  std::vector<FlatPlane> flat;
  std::vector<Plane<float>> results;
  for (int c = 0; c < planes; ++c) {
    plan.guide_weight[c] = 1 / (sigma * sigma * static_cast<float>(planes));
    samples[c] =
        flat.emplace_back(plan.width, plan.height).uploaded(picture.noisy[c].view(), stream.get());
    results.emplace_back(plan.width, plan.height);
  }
  nlm::cuda::FrameFilter filter(plan, stream.get());
  filter.load(0, samples, {});
  const nlm::cuda::CandidateSlot frame{};
  const Times times = DeviceTimer(stream.get()).repeat(o.repeats, [&] { filter.run({&frame, 1}); });
  for (int c = 0; c < planes; ++c)
    flat[c].download(filter.result(c), results[c].view(), stream.get());
  cuda::check(cudaStreamSynchronize(stream.get()));
  std::printf(
      "%-9s %4dx%-4d planes %d block %d step %d patch %d search %2d: %8.4f ms (%.4f .. "
      "%.4f), noisy %.2f dB, %.2f dB\n",
      name_of(profile).data(), plan.width, plan.height, planes, params.block, params.step,
      params.patch_radius, params.search_radius, times.median(), times.at(0.1), times.at(0.9),
      psnr_of(picture.noisy, picture.clean), psnr_of(results, picture.clean));
}

void measure_pictures(const Options& o) {
  PicturePair pair = load_pair(o.noisy, o.clean, std::pmr::get_default_resource());
  Picture grey;
  grey.noisy.push_back(plane_of(pair.noisy, 0));
  grey.clean.push_back(plane_of(pair.clean.pixels ? pair.clean : pair.noisy, 0));
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
    measure_picture(o, grey, profile);
  Picture colour;
  Gaussian gaussian(1);
  for (int c = 0; c < 3; ++c) {
    Plane<float> clean(720, 480), noisy(720, 480);
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 720; ++x) {
        const int at_x = std::min(x + 40 * c, grey.width() - 1);
        const float v = grey.clean[0].view()(at_x, std::min(y + 30 * c, grey.height() - 1));
        clean.view()(x, y) = v;
        noisy.view()(x, y) = v + static_cast<float>(o.sigma * gaussian());
      }
    colour.noisy.push_back(std::move(noisy));
    colour.clean.push_back(std::move(clean));
  }
  for (const Profile profile : {Profile::paper, Profile::fast, Profile::balanced})
    measure_picture(o, colour, profile);
}

/// Reads the slices, scaled to a maximum of 255.
std::vector<Plane<float>> read_volume(const Options& o) {
  const auto source = io::open_source(o.volume);
  const FrameFormat& format = source->format();
  const std::vector<int> crop =
      o.crop.empty() ? std::vector{0, format.width, 0, format.height, 0, 1 << 30} : o.crop;
  std::vector<Plane<float>> slices;
  std::vector<double> values;
  double max_value = 0;
  for (int z = 0; auto frame = source->read(); ++z) {
    if (z < crop[4] || z >= crop[5] || z >= source->info().slices) continue;
    source->values_of(*frame, values);
    Plane<float> slice(crop[1] - crop[0], crop[3] - crop[2]);
    for (int y = 0; y < slice.height(); ++y)
      for (int x = 0; x < slice.width(); ++x) {
        const double v = values[(y + crop[2]) * format.width + x + crop[0]];
        slice.view()(x, y) = static_cast<float>(v);
        max_value = std::max(max_value, v);
      }
    slices.push_back(std::move(slice));
  }
  for (Plane<float>& slice : slices)
    for (int y = 0; y < slice.height(); ++y)
      for (int x = 0; x < slice.width(); ++x)
        slice.view()(x, y) *= static_cast<float>(255 / max_value);
  return slices;
}

/// Filters all slices of a volume and measures the time of the kernels.
class VolumeRun {
 public:
  VolumeRun(const Params& params, int width, int height, int depth, float sigma)
      : plan_{.params = params,
              .width = width,
              .height = height,
              .guide_weight = 1 / (sigma * sigma)},
        slices_per_batch_(nlm::cuda::VolumeFilter::slices_at_a_time(plan_)),
        filter_(plan_, slices_per_batch_, stream_.get()),
        flat_(width, height),
        slice_(Margins::none(width, height).size()),
        results_(slices_per_batch_ * slice_),
        depth_(depth) {}

  /// Returns the time in ms for all slices. `load(z)` returns slice z.
  template <class Load>
  double run(const Load& load, std::vector<Plane<float>>* results = nullptr) {
    const DeviceTimer timer(stream_.get());
    double ms = 0;
    int loaded = 0;
    for (int z = 0; z < depth_; z += slices_per_batch_) {
      const SliceSpan span{z, std::min(z + slices_per_batch_, depth_)};
      for (; loaded < std::min(span.end + plan_.params.reach_slices(), depth_); ++loaded)
        filter_.load(loaded, flat_.uploaded(load(loaded), stream_.get()), nullptr, stream_.get());
      ms += timer.repeat(3, [&] { filter_.run(span, {0, depth_}, results_.get()); }).median();
      for (int k = 0; results != nullptr && k < span.size(); ++k) {
        results->emplace_back(plan_.width, plan_.height);
        flat_.download(results_.get() + k * slice_, results->back().view(), stream_.get());
      }
    }
    cuda::check(cudaStreamSynchronize(stream_.get()));
    return ms;
  }

 private:
  nlm::VolumePlan plan_;
  cuda::Stream stream_ = cuda::make_stream();
  int slices_per_batch_;
  nlm::cuda::VolumeFilter filter_;
  FlatPlane flat_;
  std::size_t slice_;
  cuda::DeviceBuffer<float> results_;
  int depth_;
};

void print_volume(Profile profile, const std::string& what, double ms, double voxels) {
  std::printf("%-9s %s: %.2f ms, %.4f ms a megavoxel", name_of(profile).data(), what.c_str(), ms,
              ms / voxels * 1e6);
}

void measure_volume(const Options& o) {
  const std::vector<Plane<float>> clean = read_volume(o);
  const int width = clean[0].width(), height = clean[0].height();
  const auto depth = static_cast<int>(clean.size());
  for (const double level : o.levels) {
    const auto sigma = static_cast<float>(level * 2.55);
    Gaussian gaussian(1);
    std::vector<Plane<float>> noisy;
    for (const Plane<float>& slice : clean) {
      noisy.emplace_back(width, height);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          noisy.back().view()(x, y) = slice.view()(x, y) + sigma * static_cast<float>(gaussian());
    }
    for (const Profile profile :
         {Profile::fast, Profile::balanced, Profile::high, Profile::paper}) {
      const Params params = nlm::make_volume_params(profile, NoiseModel({sigma, sigma, sigma}));
      std::vector<Plane<float>> results;
      VolumeRun run(params, width, height, depth, sigma);
      const double ms = run.run([&](int z) { return std::as_const(noisy[z]).view(); }, &results);
      double squares = 0, voxels = 0;
      for (int z = 0; z < depth; ++z)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x)
            if (const float v = clean[z].view()(x, y); v > 15) {
              const double d = static_cast<double>(results[z].view()(x, y) - v);
              squares += d * d, ++voxels;
            }
      print_volume(
          profile,
          std::to_string(width) + "x" + std::to_string(height) + "x" + std::to_string(depth), ms,
          1.0 * width * height * depth);
      std::printf(", noise %g %%: %.2f dB\n", level, psnr_of(squares, voxels));
    }
  }
}

void measure_cubes(const Options& o) {
  for (const int side : o.cubes) {
    Gaussian gaussian(1);
    std::vector<Plane<float>> slices;  // used in turn
    for (int i = 0; i < 16; ++i) {
      slices.emplace_back(side, side);
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
          slices.back().view()(x, y) = 128 + 20 * static_cast<float>(gaussian());
    }
    for (const Profile profile :
         {Profile::fast, Profile::balanced, Profile::high, Profile::paper}) {
      VolumeRun run(nlm::make_volume_params(profile, NoiseModel({20, 20, 20})), side, side, side,
                    20);
      const double ms = run.run([&](int z) { return std::as_const(slices[z % 16]).view(); });
      print_volume(profile, std::to_string(side) + "^3", ms, std::pow(side, 3));
      std::printf("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  try {
    const cuda::DeviceScope scope(o.device);
    if (o.volume.empty() && o.cubes.empty()) measure_pictures(o);
    if (!o.volume.empty()) measure_volume(o);
    measure_cubes(o);
  } catch (const std::exception& error) {
    std::cerr << "lull_nlm_bench: " << error.what() << "\n";
    return 1;
  }
}
