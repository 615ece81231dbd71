// lull_cluster_bench PICTURES: compares clustered matching with window search on one core. The
// program prints the time and the PSNR of BM3D, by phase. With --paper it prints the tables of Tsai
// et al. 2016: the share of the nearest patches of a tile that are found, the ratio of the
// distances, and the PSNR of patchwise non-local means and BM3D.

#include <tbb/task_arena.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "bm3d/bm3d.h"
#include "bm3d/open/host_session.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "io/media.h"
#include "match/clusters.h"
#include "match/cpu/matcher.h"
#include "match/reference/matcher.h"

namespace {

using namespace lull;

struct Options {
  std::vector<std::string> pictures;
  std::vector<float> sigmas{10, 25, 50};
  std::vector<std::string> clusters{text_of(ClusterParams{})};
  std::string profile = "high";
  bool paper = false;
  int window = 39, crop = 0;
};

Plane<float> load(const std::string& path, int crop) {
  const auto frame = io::open_source(path)->read();
  const FrameFormat& f = frame->format;
  Plane<float> plane(f.width, f.height);
  load_plane(*frame, 0, plane.view());
  if (crop == 0) return plane;
  const int width = std::min(crop, f.width), height = std::min(crop, f.height);
  Plane<float> part(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      part.view()(x, y) = plane.view()(x + (f.width - width) / 2, y + (f.height - height) / 2);
  return part;
}

double psnr(PlaneView<const float> a, PlaneView<const float> b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const double d = static_cast<double>(a(x, y)) - static_cast<double>(b(x, y));
      sum += d * d;
    }
  return 10 * std::log10(255.0 * 255.0 * a.width * a.height / sum);
}

Plane<float> denoise(PlaneView<const float> noisy, const bm3d::Params& params) {
  const FrameFormat format{
      .width = noisy.width, .height = noisy.height, .sample = SampleType::f32, .bits = 32};
  Frame frame = FramePool(format).acquire();
  for (int y = 0; y < noisy.height; ++y)
    for (int x = 0; x < noisy.width; ++x) frame.plane<float>(0)(x, y) = noisy(x, y) / 255;
  const auto session = bm3d::open(params, format, {.kind = BackendKind::cpu, .threads = 1});
  auto out = session->push(frame);
  if (!out) out = session->drain();
  Plane<float> result(noisy.width, noisy.height);
  for (int y = 0; y < noisy.height; ++y)
    for (int x = 0; x < noisy.width; ++x) result.view()(x, y) = 255 * out->plane<float>(0)(x, y);
  return result;
}

struct Groups {
  ReferenceGrid grid;
  std::vector<Group> all;  // row by row
  double seconds = 0;
};

/// Returns the CPU time of this thread, which other processes do not affect.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Finds the groups of all reference patches with the matchers of the cpu backend, on this thread.
Groups match_all(PlaneView<const float> guide, const MatchParams& params, float noise) {
  Groups groups{ReferenceGrid(guide.width, guide.height, params.step), {}};
  const ReferenceGrid& grid = groups.grid;
  groups.all.resize(static_cast<std::size_t>(grid.count_x) * grid.count_y);
  const std::vector<GuideAt> frames{{0, {guide, {}}}};
  tbb::task_arena(1).execute([&] {
    const auto matcher = cpu::make_matcher(1);
    const double start = thread_seconds();
    matcher->begin({params, frames, noise});
    const int columns = (guide.width - patch) / params.step + 1;
    const int rows = (guide.height - patch) / params.step + 1;
    const cpu::BlockSize size = matcher->block_size(params, columns);
    const auto run = [&](const cpu::Block& block, int column, int row) {
      matcher->begin_block(block, 0);
      for (int j = 0; j < block.rows; ++j)
        matcher->find(block, j, 0,
                      {&groups.all[static_cast<std::size_t>(row + j) * grid.count_x + column],
                       static_cast<std::size_t>(block.columns)});
    };
    const auto run_row = [&](int y, int row, int block_rows) {
      for (int i = 0; i < columns; i += size.columns)
        run({i * params.step, y, std::min(size.columns, columns - i), block_rows}, i, row);
      if (columns < grid.count_x) run({grid.last_x, y, 1, block_rows}, columns, row);
    };
    for (int j = 0; j < rows; j += size.rows)
      run_row(j * params.step, j, std::min(size.rows, rows - j));
    if (rows < grid.count_y) run_row(grid.last_y, rows, 1);
    groups.seconds = thread_seconds() - start;
  });
  return groups;
}

std::optional<ClusterParams> clusters_of(const std::string& text) {
  return text == "window" ? std::nullopt : parse_clusters(text);
}

/// Time and PSNR for a picture, phase by phase.
struct Cost {
  double first = 0, second = 0, psnr = 0, frame = 0;
};
Cost cost_of(PlaneView<const float> clean, PlaneView<const float> noisy, bm3d::Params params,
             float sigma) {
  Cost cost;
  MatchParams first = params.hard.matching(), second = params.wiener.matching();
  first.range = {-3 * sigma, 255 + 3 * sigma};
  const float left = 3 * sigma * params.guide_noise;
  second.range = {-left, 255 + left};
  const double start = thread_seconds();  // the session uses this thread only
  cost.psnr = psnr(denoise(noisy, params).view(), clean);
  cost.frame = thread_seconds() - start;
  params.phases = 1;
  const Plane<float> basic = denoise(noisy, params);
  Plane<float> guide(clean.width, clean.height);
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x)
      guide.view()(x, y) =
          basic.view()(x, y) + params.guide_noise * (noisy(x, y) - basic.view()(x, y));
  cost.first = cost.second = 1e9;
  for (int run = 0; run < 3; ++run) {  // minimum of three runs
    cost.first = std::min(cost.first, match_all(noisy, first, sigma).seconds);
    cost.second =
        std::min(cost.second, match_all(guide.view(), second, sigma * params.guide_noise).seconds);
  }
  return cost;
}

/// Returns the result of patchwise non-local means over groups, with the weights exp(-max(d - 2
/// sigma^2, 0) / h^2).
Plane<float> means(PlaneView<const float> noisy, const Groups& groups, float sigma) {
  Plane<float> sum(noisy.width, noisy.height), count(noisy.width, noisy.height);
  for (int y = 0; y < noisy.height; ++y)
    for (int x = 0; x < noisy.width; ++x) sum.view()(x, y) = count.view()(x, y) = 0;
  for (int j = 0; j < groups.grid.count_y; ++j)
    for (int i = 0; i < groups.grid.count_x; ++i) {
      const int x = groups.grid.x(i), y = groups.grid.y(j);
      const Group& group = groups.all[static_cast<std::size_t>(j) * groups.grid.count_x + i];
      float estimate[patch * patch] = {}, weights = 0;
      for (int m = 0; m < group.count; ++m) {
        const int u = x + displacement_x(group.members[m]);
        const int v = y + displacement_y(group.members[m]);
        const auto d = static_cast<float>(patch_distance(noisy, x, y, noisy, u, v));
        const float h = 0.5f * sigma;
        const float weight = std::exp(-std::max(d - 2 * sigma * sigma, 0.0f) / (h * h));
        weights += weight;
        for (int k = 0; k < patch * patch; ++k)
          estimate[k] += weight * noisy(u + k % patch, v + k / patch);
      }
      for (int k = 0; k < patch * patch; ++k) {
        sum.view()(x + k % patch, y + k / patch) += estimate[k] / weights;
        count.view()(x + k % patch, y + k / patch) += 1;
      }
    }
  for (int y = 0; y < noisy.height; ++y)
    for (int x = 0; x < noisy.width; ++x) sum.view()(x, y) /= count.view()(x, y);
  return sum;
}

/// Comparison with the nearest patches of each tile, as in table 6 of the paper: the share of the
/// nearest patches that is found, and the ratio of the distances.
struct Overlap {
  double found = 0, expected = 0, distance = 0, min_distance = 0;
};
void add_overlap(PlaneView<const float> guide, const Groups& groups, int side, int group,
                 Overlap& overlap) {
  const int width = guide.width - patch + 1, height = guide.height - patch + 1;
  for (int y = 0; y < height; y += 2)  // every other row and column of patches is enough
    for (int x = 0; x < width; x += 2) {
      std::vector<std::pair<double, std::uint32_t>> tile;
      for (int v = y / side * side; v < std::min(height, (y / side + 1) * side); ++v)
        for (int u = x / side * side; u < std::min(width, (x / side + 1) * side); ++u)
          if (u != x || v != y)
            tile.emplace_back(patch_distance(guide, x, y, guide, u, v),
                              pack_displacement(u - x, v - y));
      const Group& found = groups.all[static_cast<std::size_t>(y) * width + x];
      const int count = std::min<int>(group - 1, static_cast<int>(tile.size()));
      if (found.count - 1 < count) continue;
      std::ranges::sort(tile);
      std::set<std::uint32_t> members(found.members.begin() + 1,
                                      found.members.begin() + found.count);
      overlap.expected += count;
      for (int k = 0; k < count; ++k) {
        overlap.found += members.contains(tile[k].second) ? 1 : 0;
        overlap.min_distance += tile[k].first;
        overlap.distance +=
            patch_distance(guide, x, y, guide, x + displacement_x(found.members[k + 1]),
                           y + displacement_y(found.members[k + 1]));
      }
    }
}

struct NoisyPicture {
  Plane<float> clean, noisy;
};
std::vector<NoisyPicture> load_all(const Options& options, float sigma) {
  std::vector<NoisyPicture> all;
  for (const std::string& path : options.pictures) {
    NoisyPicture& picture = all.emplace_back(load(path, options.crop), Plane<float>());
    const auto clean = picture.clean.view();
    picture.noisy = Plane<float>(clean.width, clean.height);
    bench::Gaussian gaussian(1);
    for (int y = 0; y < clean.height; ++y)
      for (int x = 0; x < clean.width; ++x)
        picture.noisy.view()(x, y) = clean(x, y) + sigma * static_cast<float>(gaussian());
  }
  return all;
}

void repeat_paper(const Options& options) {
  const float sigma = 20;
  const std::vector<NoisyPicture> pictures = load_all(options, sigma);
  const auto table = [&](const char* name, const MatchParams& match, bm3d::Params params,
                         bool of_tiles) {
    Overlap clean_overlap, noisy_overlap;
    double by_means = 0, by_bm3d = 0;
    for (const auto& [clean, noisy] : pictures) {
      const Groups groups = match_all(noisy.view(), match, sigma);
      by_means += psnr(means(noisy.view(), groups, sigma).view(), clean.view());
      by_bm3d += psnr(denoise(noisy.view(), params).view(), clean.view());
      if (!of_tiles) continue;
      add_overlap(noisy.view(), groups, paper_clusters.tile, match.group, noisy_overlap);
      add_overlap(clean.view(), match_all(clean.view(), match, 0), paper_clusters.tile, match.group,
                  clean_overlap);
    }
    const auto count = static_cast<double>(pictures.size());
    std::printf("%-24s NLM %.2f  BM3D %.2f", name, by_means / count, by_bm3d / count);
    for (const Overlap* o : {&clean_overlap, &noisy_overlap})
      if (o->expected > 0)
        std::printf("  of %s pictures %.1f %% found, distance %.2f",
                    o == &clean_overlap ? "clean" : "noisy", 100 * o->found / o->expected,
                    o->distance / o->min_distance);
    std::printf("\n");
    std::fflush(stdout);
  };
  MatchParams match{.window = 39, .group = 16, .step = 1, .tau = 1e6};
  match.range = {-3 * sigma, 255 + 3 * sigma};
  bm3d::Params params = bm3d::make_params(bm3d::Profile::paper, {sigma, sigma, sigma});
  table("window 39", match, params, false);
  const auto with = [&](const ClusterParams& clusters) {
    match.clusters = params.hard.clusters = params.wiener.clusters = clusters;
  };
  with(paper_clusters);
  table("clusters of the paper", match, params, true);
  with({});
  table("clusters", match, params, false);
}

void compare(const Options& options) {
  for (const float sigma : options.sigmas) {
    const std::vector<NoisyPicture> pictures = load_all(options, sigma);
    const auto parsed = bm3d::make_params(options.profile == "balanced" ? bm3d::Profile::balanced
                                          : options.profile == "paper"  ? bm3d::Profile::paper
                                                                        : bm3d::Profile::high,
                                          {sigma, sigma, sigma});
    std::vector<std::string> names{"window"};
    names.insert(names.end(), options.clusters.begin(), options.clusters.end());
    Cost window;
    for (const std::string& name : names) {
      bm3d::Params params = parsed;
      params.hard.window = params.wiener.window = options.window;
      params.kept = 0;  // both phases search, as cluster matching does in both phases
      params.hard.clusters = params.wiener.clusters = clusters_of(name.substr(0, name.find('/')));
      const std::size_t colon = name.find('/');  // A/B: one matcher per phase
      if (colon != std::string::npos) params.wiener.clusters = clusters_of(name.substr(colon + 1));
      Cost sum;
      for (const auto& [clean, noisy] : pictures) {
        const Cost cost = cost_of(clean.view(), noisy.view(), params, sigma);
        sum.first += cost.first, sum.second += cost.second;
        sum.psnr += cost.psnr / static_cast<double>(pictures.size());
        sum.frame += cost.frame;
      }
      if (name == "window") window = sum;
      std::printf(
          "sigma %2.0f  %-24s PSNR %.3f (%+.3f)  matching %.3f + %.3f s (%.2f, %.2f; both %.2f)  "
          "frames %.3f s (%.2f)\n",
          static_cast<double>(sigma), name.c_str(), sum.psnr, sum.psnr - window.psnr, sum.first,
          sum.second, sum.first / window.first, sum.second / window.second,
          (sum.first + sum.second) / (window.first + window.second), sum.frame,
          sum.frame / window.frame);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Compares clustered matching with window search on one core."};
  app.add_option("PICTURES", options.pictures, "stills; the first plane is used")->required();
  app.add_option("--sigma", options.sigmas, "noise levels on the 0..255 scale")->delimiter(',');
  app.add_option("--clusters", options.clusters,
                 "TILE:LEAF:TILINGS, or two with a / between, of the phases")
      ->delimiter(',');
  app.add_option("--profile", options.profile, "balanced, high or paper");
  app.add_option("--window", options.window, "search window of both phases");
  app.add_option("--crop", options.crop,
                 "side of the centre part of each picture; 0: the complete picture");
  app.add_flag("--paper", options.paper, "print the tables of the paper");
  CLI11_PARSE(app, argc, argv);
  try {
    if (options.paper)
      repeat_paper(options);
    else
      compare(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
