// Benchmarks of BM3D's cpu backend, by stage and for a complete picture, on a synthetic noisy
// picture with gradients and edges. Times are CPU times of one thread unless the name states
// otherwise. lull_quality measures the quality on real pictures.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>

#include "bm3d/cpu/kernels.h"
#include "bm3d/phase_engine.h"

namespace lull::bm3d {
namespace {

using namespace cpu;

constexpr float sigma = 25;

/// Returns a picture with sine waves, edges and flat areas.
Plane<float> clean_picture(int width, int height) {
  Plane<float> picture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float wave = 40 * std::sin(0.02f * static_cast<float>(x + y * y / height));
      const float edge = (x / 37 + y / 53) % 3 == 0 ? 60.0f : 0.0f;
      picture.view()(x, y) = 90 + wave + edge;
    }
  return picture;
}

/// Returns the picture with white noise that is averaged over squares of `side` samples.
Plane<float> noisy_picture(int width, int height, int side = 1) {
  Plane<float> picture = clean_picture(width, height), white(width + side, height + side);
  std::mt19937 rng{1};
  std::normal_distribution<float> noise{0, sigma / static_cast<float>(side)};
  for (int y = 0; y < height + side; ++y)
    for (int x = 0; x < width + side; ++x) white.view()(x, y) = noise(rng);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int i = 0; i < side * side; ++i)
        picture.view()(x, y) += white.view()(x + i % side, y + i / side);
  return picture;
}

/// Returns the noise model of noisy_picture().
NoiseModel noise_of(int side) {
  NoiseModel model(std::array<float, 3>{sigma, sigma, sigma});
  if (side == 1) return model;
  auto correlation = std::make_shared<Autocorrelation>();
  const auto along = [&](int lag) {
    return static_cast<float>(std::max(0, side - std::abs(lag))) / static_cast<float>(side);
  };
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      (*correlation)[lag_index(dx, dy)] = along(dx) * along(dy);
  for (int i = 0; i < 3; ++i) model.plane(i).correlation = correlation;
  return model;
}

/// An 8-bit guide and all data for matching one block.
struct MatchBench {
  MatchBench(int window, int step, int group)
      : geometry{width, height, window},
        block{60, 60,
              480 / step - extra_lanes(step) < max_lanes - extra_lanes(step)
                  ? 480 / step - extra_lanes(step)
                  : max_lanes - extra_lanes(step),
              4} {
    const Plane<float> picture = noisy_picture(width, height);
    const int elements = (width + 2 * window) / step + max_lanes;
    const std::ptrdiff_t phase_stride = round_up(elements, 32);
    const std::ptrdiff_t row_stride = phase_stride * step + 32;
    const int before = window / step + 1;
    std::uint16_t* const rows = pairs.reserve(row_stride * height);
    for (int y = 0; y < height; ++y)
      pair_row({picture.view().row(y), width}, {100, 2},
               {rows + y * row_stride, phase_stride, -before, elements, step,
                bytes.reserve(static_cast<std::size_t>(elements) * step + 1)});
    guide = {rows + before, row_stride, phase_stride, step};
    const int lanes = lanes_of(block.columns, step), classes = 2 * group;
    scores = {values.reserve(static_cast<std::size_t>(4) * window * window * lanes),
              minima.reserve(static_cast<std::size_t>(4) * classes * lanes),
              sums.reserve(sums_size(4, lanes)),
              outside.reserve(static_cast<std::size_t>(window + 1) * lanes),
              lanes,
              classes};
    displacements.resize(static_cast<std::size_t>(window) * window);
    for (int i = 0; i < window * window; ++i)
      displacements[i] = pack_displacement(i % window - window / 2, i / window - window / 2);
  }

  static constexpr int width = 640, height = 256;
  Buffer<std::uint16_t> pairs, values, minima, sums, outside;
  Buffer<std::int8_t> bytes;
  PairedGuide guide;
  MatchGeometry geometry;
  Block block;
  Scores scores{};
  std::vector<std::uint32_t> displacements;
};

/// Measures the matching scores. Arguments: window, step. Reports the time per reference patch.
void score(benchmark::State& state) {
  MatchBench b(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 16);
  for (auto _ : state) score_block(b.guide, b.geometry, b.block, b.scores);
  const int references = b.block.columns * b.block.rows;
  state.counters["reference"] = benchmark::Counter(
      references, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(score)->ArgsProduct({{25, 39}, {1, 2, 3, 4, 6, 8}});

/// Measures the selection of group members. Arguments: window, group size.
void select(benchmark::State& state) {
  const int group = static_cast<int>(state.range(1));
  MatchBench b(static_cast<int>(state.range(0)), 4, group);
  score_block(b.guide, b.geometry, b.block, b.scores);
  Buffer<std::uint32_t> keys;
  const SelectScratch scratch{keys.reserve(select_scratch_size)};
  std::vector<Ranking> rankings(b.block.columns);
  for (auto _ : state)
    for (int row = 0; row < b.block.rows; ++row) {
      for (Ranking& ranking : rankings) ranking.count = 0;
      rank_candidates({group, 60000, b.displacements.data()}, b.geometry, b.block, 4, row, b.scores,
                      scratch, rankings);
    }
  state.counters["reference"] = benchmark::Counter(
      b.block.columns * b.block.rows,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(select)->ArgsProduct({{25, 39}, {8, 16, 32}});

/// Measures the filter of a group. Arguments: transform, group size, phase (0: hard thresholding,
/// 1: Wiener).
void filter(benchmark::State& state) {
  const int size = 256;
  const PhaseParams phase{.transform = static_cast<Transform>(state.range(0))};
  const bool wiener = state.range(2) == 1;
  const Plane<float> noisy = noisy_picture(size, size), basic = clean_picture(size, size);
  const FilterTables tables =
      wiener ? make_wiener_tables(phase, {sigma}, 1) : make_hard_tables(phase, {sigma}, 2.7f, 1);
  Plane<float> numerator(size + 16, size), weights(size + 16, size);
  Buffer<float> scratch;
  PlaneTile tile{.wiener = wiener, .frame = {}};
  tile.frame[0] = {noisy.view().data,   basic.view().data,       numerator.view().data,
                   weights.view().data, numerator.view().stride, noisy.view().stride,
                   basic.view().stride};
  std::mt19937 rng{2};
  std::vector<Group> groups(256);
  for (Group& group : groups) {
    group.count = static_cast<int>(state.range(1));
    for (auto& member : group.members)
      member =
          pack_displacement(static_cast<int>(rng() % 25) - 12, static_cast<int>(rng() % 25) - 12);
    group.members[0] = 0;
  }
  std::size_t i = 0;
  for (auto _ : state) {
    const int x = 16 + static_cast<int>(i * 4 % 200);
    filter_group(tables, tile, x, 100, groups[i++ % groups.size()],
                 scratch.reserve(filter_scratch_size));
  }
}
BENCHMARK(filter)->ArgsProduct({{0, 1, 2}, {1, 4, 16, 32}, {0, 1}});

/// Measures two phases on 960x540 samples. Arguments: profile, threads, side of the squares over
/// which the noise is averaged (1: white noise). Reports CPU seconds of all threads per megapixel.
void two_phases(benchmark::State& state) {
  const int width = 960, height = 540, side = static_cast<int>(state.range(2));
  const Params params = make_params(static_cast<Profile>(state.range(0)), noise_of(side));
  const auto engine = make_cpu_engine(static_cast<int>(state.range(1)));
  const Plane<float> noisy = noisy_picture(width, height, side);
  Plane<float> basic(width, height), result(width, height);
  const PlaneView<const float> source = noisy.view(), estimate = std::as_const(basic).view();
  const PlaneView<float> first = basic.view(), second = result.view();
  const auto sums = engine->make_sums(width, height);
  const FrameFormat gray{.width = width, .height = height};
  const PhasePlan hard = plan_phase(Phase::first, params, gray);
  const PhasePlan wiener = plan_phase(Phase::second, params, gray);
  const PhaseFrame frame{0, {.guide = {source}, .noisy = {source}, .sums = {sums.get()}}};
  PhaseFrame again = frame;
  again.frame.guide.samples = again.frame.basic[0] = estimate;
  KeptGroups groups;
  for (auto _ : state) {
    const PhaseInput input{hard, hard.sets[0], {&frame, 1}, sigma, &groups};
    if (hard.search_step > 0) engine->search(input);
    engine->run(input);
    engine->finish(hard, *sums, first);
    engine->run({wiener, wiener.sets[0], {&again, 1}, 0, &groups});
    engine->finish(wiener, *sums, second);
  }
  state.counters["Mpixel"] =
      benchmark::Counter(width * height * 1e-6, benchmark::Counter::kIsIterationInvariantRate |
                                                    benchmark::Counter::kInvert);
}
BENCHMARK(two_phases)
    ->ArgsProduct({{0, 1, 2, 3}, {1, 2}, {1, 3}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lull::bm3d

BENCHMARK_MAIN();
