#include "bench/support/parameter_grid.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include "bm3d/names.h"
#include "core/error.h"

namespace lull::bench {
namespace {

using bm3d::Params;
using bm3d::PhaseParams;

double number(const std::string& text) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (text.empty() || end != text.size())
    throw InvalidArgument("\"" + text + "\" (must be a number); give one");
  return value;
}

template <class Enum>
Enum choice(const std::string& text) {
  const auto value = parse_name<Enum>(text);
  if (!value) throw InvalidArgument("\"" + text + "\" (unknown choice); see params.h");
  return *value;
}

/// Parses "window", "cluster", "paper", or "64x64x2": tile, leaf size and number of tilings.
std::optional<ClusterParams> clusters(const std::string& text) {
  if (text == "window") return std::nullopt;
  if (text == "cluster") return ClusterParams{};
  if (text == "paper") return paper_clusters;
  std::array<int, 3> values{};
  std::size_t at = 0;
  for (int& value : values) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    value = static_cast<int>(number(text.substr(std::min(at, text.size()), end - at)));
    at = end + 1;
  }
  return ClusterParams{values[0], values[1], values[2]};
}

using PhaseSetter = std::function<void(PhaseParams&, const std::string&)>;
using Setter = std::function<void(Params&, const std::string&)>;

const std::map<std::string, PhaseSetter> phase_setters{
    {"window", [](auto& p, auto& v) { p.window = static_cast<int>(number(v)); }},
    {"group", [](auto& p, auto& v) { p.group = static_cast<int>(number(v)); }},
    {"step", [](auto& p, auto& v) { p.step = static_cast<int>(number(v)); }},
    {"tau", [](auto& p, auto& v) { p.tau = static_cast<float>(number(v)); }},
    {"kaiser", [](auto& p, auto& v) { p.kaiser = static_cast<float>(number(v)); }},
    {"transform", [](auto& p, auto& v) { p.transform = choice<bm3d::Transform>(v); }},
    {"temporal-window", [](auto& p, auto& v) { p.temporal_window = static_cast<int>(number(v)); }},
    {"near-window", [](auto& p, auto& v) { p.refine_window = static_cast<int>(number(v)); }},
    {"near-temporal-window",
     [](auto& p, auto& v) { p.refine_temporal_window = static_cast<int>(number(v)); }},
    {"place-bonus", [](auto& p, auto& v) { p.motion_bias = static_cast<float>(number(v)); }},
    {"near-window", [](auto& p, auto& v) { p.refine_window = static_cast<int>(number(v)); }},
    {"near-temporal-window",
     [](auto& p, auto& v) { p.refine_temporal_window = static_cast<int>(number(v)); }},
    {"clusters", [](auto& p, auto& v) { p.clusters = clusters(v); }},
    {"group-transform",
     [](auto& p, auto& v) { p.group_transform = choice<bm3d::GroupTransform>(v); }},
};
const std::map<std::string, Setter> setters{
    {"lambda", [](auto& p, auto& v) { p.lambda = static_cast<float>(number(v)); }},
    {"lambda-mean", [](auto& p, auto& v) { p.lambda_mean = static_cast<float>(number(v)); }},
    {"mu2", [](auto& p, auto& v) { p.mu2 = static_cast<float>(number(v)); }},
    {"guide-noise", [](auto& p, auto& v) { p.guide_noise = static_cast<float>(number(v)); }},
    {"batch",
     [](auto& p, auto& v) {
       const std::size_t x = std::min(v.find('x'), v.size());
       p.batch = {static_cast<int>(number(v.substr(0, x))),
                  static_cast<int>(number(v.substr(std::min(x + 1, v.size()))))};
     }},
    {"search-step", [](auto& p, auto& v) { p.search_step = static_cast<int>(number(v)); }},
    {"same-groups", [](auto& p, auto& v) { p.same_groups = bm3d::SameGroups(number(v)); }},
    {"kept", [](auto& p, auto& v) { p.kept = static_cast<int>(number(v)); }},
    {"scene-cut", [](auto& p, auto& v) { p.scene_cut = static_cast<float>(number(v)); }},
    {"phases", [](auto& p, auto& v) { p.phases = static_cast<int>(number(v)); }},
};

void set(Params& params, const std::string& name, const std::string& value) {
  if (const auto setter = setters.find(name); setter != setters.end())
    return setter->second(params, value);
  const std::size_t colon = value.find(':');
  const std::string first = value.substr(0, colon);
  const std::string second = colon == std::string::npos ? value : value.substr(colon + 1);
  const PhaseSetter& setter = phase_setters.at(name);
  setter(params.hard, first);
  setter(params.wiener, second);
}

/// Returns noise with this level in each plane, averaged over squares of `squares` samples.
NoiseModel noise_of(float sigma, int squares) {
  NoiseModel noise(std::array<float, 3>{sigma, sigma, sigma});
  if (squares <= 1) return noise;
  if (squares > correlation_reach + 1)
    throw InvalidArgument("squares = " + std::to_string(squares) + " (must be up to " +
                          std::to_string(correlation_reach + 1) + "); give a smaller value");
  auto correlation = std::make_shared<Autocorrelation>();
  const auto along = [&](int lag) {
    return static_cast<float>(std::max(0, squares - std::abs(lag))) / static_cast<float>(squares);
  };
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      (*correlation)[lag_index(dx, dy)] = along(dx) * along(dy);
  for (int i = 0; i < 3; ++i) noise.plane(i).correlation = correlation;
  return noise;
}

}  // namespace

void add_squares_option(CLI::App& app, ParameterGrid& grid) {
  app.add_option("--squares", grid.squares,
                 "coarse noise: averaged over squares with this number of samples per side, 1 to 8")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
}

void add_grid_options(CLI::App& app, ParameterGrid& grid) {
  app.add_option("--sigma", grid.sigmas, "noise, on the 0..255 scale")->delimiter(',');
  app.add_option("--profile", grid.profiles, "fast, balanced, high, best, paper")->delimiter(',');
  app.add_option("--temporal", grid.temporal, "temporal radius in frames, 0 to 8")->delimiter(',');
  for (const auto& [name, setter] : phase_setters)
    app.add_option("--" + name, grid.axes[name], "values to try")->delimiter(',');
  for (const auto& [name, setter] : setters)
    app.add_option("--" + name, grid.axes[name], "values to try")->delimiter(',');
}

std::vector<Configuration> configurations(const ParameterGrid& grid) {
  std::vector<Configuration> all;
  for (const float sigma : grid.sigmas)
    for (const std::string& profile : grid.profiles)
      for (const int temporal : grid.temporal)
        for (const int squares : grid.squares) {
          std::string setting = profile;
          if (temporal != 0) setting += " temporal=" + std::to_string(temporal);
          if (squares != 0) setting += " squares=" + std::to_string(squares);
          all.push_back({sigma, profile, setting,
                         bm3d::make_params(choice<bm3d::Profile>(profile), noise_of(sigma, squares),
                                           temporal),
                         squares});
        }
  for (const auto& [name, values] : grid.axes) {
    if (values.empty()) continue;
    std::vector<Configuration> next;
    for (const Configuration& configuration : all)
      for (const std::string& value : values) {
        next.push_back(configuration);
        set(next.back().params, name, value);
        next.back().setting += " " + name + "=" + value;
      }
    all = std::move(next);
  }
  const auto is_given = [&](const char* name) {
    const auto axis = grid.axes.find(name);
    return axis != grid.axes.end() && !axis->second.empty();
  };
  if (!is_given("kept") && !is_given("search-step"))
    for (Configuration& configuration : all) search_where_needed(configuration.params);
  for (const Configuration& configuration : all) validate(configuration.params);
  return all;
}

bm3d::Backend backend_of(const std::string& device, int streams, int threads) {
  bm3d::Backend backend{.streams = streams, .threads = threads};
  const std::size_t colon = device.find(':');
  const std::string kind = device.substr(0, colon);
  if (kind == "cpu")
    backend.kind = bm3d::BackendKind::cpu;
  else if (kind == "reference")
    backend.kind = bm3d::BackendKind::reference;
  else if (kind == "cuda")
    backend.kind = bm3d::BackendKind::cuda;
  else
    throw InvalidArgument("device \"" + device + "\" (unknown); " +
                          "choose cpu, reference, cuda or cuda:N");
  if (colon != std::string::npos)
    backend.device = static_cast<int>(number(device.substr(colon + 1)));
  return backend;
}

}  // namespace lull::bench
