#include "tools/noise/noise_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/text_file.h"
#include "tools/report/json.h"

namespace lull::tools {
namespace {

/// Current version of the file format. lull also reads older versions.
constexpr int noise_format = 1;
/// Maximum size of a noise file in bytes, enough for thousands of scenes.
constexpr std::size_t max_bytes = std::size_t{1} << 26;

constexpr std::pair<Layout, std::string_view> layouts[] = {
    {Layout::gray, "gray"}, {Layout::yuv, "yuv"}, {Layout::rgb, "rgb"}};
constexpr std::array<std::array<const char*, 3>, 3> stored_names{
    {{"Y", nullptr, nullptr}, {"Y", "Cb", "Cr"}, {"R", "G", "B"}}};
constexpr std::array<const char*, 3> opponent_names{"Y", "U", "V"};

int planes_of(Layout layout) { return layout == Layout::gray ? 1 : 3; }

/// Returns the shortest decimal string that a parser converts to exactly this float.
Json shortest_number(float value) {
  char text[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  return std::strtod(text, nullptr);
}

template <class Numbers>
Json numbers(const Numbers& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(shortest_number(value));
  return list;
}

Json json_of(const NoiseCurve& curve) {
  Json json = {{"sigma", numbers(curve.sigma)}};
  if (std::isfinite(curve.low)) json["low"] = shortest_number(curve.low);
  if (std::isfinite(curve.high)) json["high"] = shortest_number(curve.high);
  return json;
}

Json json_of(const PlaneNoise& plane, const char* name) {
  Json json = {{"name", name}, {"sigma", shortest_number(plane.sigma)}};
  if (plane.correlation) {
    Json rows = Json::array();
    for (int dy = 0; dy < correlation_lags; ++dy)
      rows.push_back(
          numbers(std::span(*plane.correlation).subspan(dy * correlation_lags, correlation_lags)));
    json["autocorrelation"] = rows;
  }
  if (plane.curve) json["curve"] = json_of(*plane.curve);
  return json;
}

Json json_of(const NoiseEstimate& estimate, Layout layout) {
  const int planes = planes_of(layout);
  Json json = {{"certain", estimate.certain}};
  if (!estimate.why.empty()) json["why"] = estimate.why;
  json["confidence"] = shortest_number(estimate.confidence);
  json["level"] = numbers(std::span(estimate.level).first(planes));
  json["coarse"] = shortest_number(estimate.coarse);
  Json stored = Json::array();
  for (int i = 0; i < planes; ++i)
    stored.push_back(json_of(estimate.noise.plane(i), stored_names[static_cast<int>(layout)][i]));
  json["planes"] = stored;
  if (!estimate.noise.is_of_opponents()) return json;
  const NoiseModel opponent = estimate.noise.in_opponent_space();
  Json opponents = Json::array();
  for (int i = 0; i < 3; ++i) opponents.push_back(json_of(opponent.plane(i), opponent_names[i]));
  json["opponents"] = opponents;
  return json;
}

Json json_of(const NoiseMap& map) {
  return {{"voxels", map.voxels}, {"nodes", map.nodes}, {"levels", numbers(map.values)}};
}

constexpr std::pair<NoiseKind, std::string_view> kinds[] = {{NoiseKind::gaussian, "gaussian"},
                                                            {NoiseKind::rician, "rician"}};

Json json_of(const VolumeEstimate& volume) {
  Json json = {{"kind", kinds[static_cast<int>(volume.noise.kind)].second},
               {"sigma", shortest_number(volume.noise.sigma)},
               {"level", shortest_number(volume.level)},
               {"background", shortest_number(volume.air)},
               {"tissue", shortest_number(volume.tissue)}};
  if (volume.noise.map) json["map"] = json_of(*volume.noise.map);
  return json;
}

Json json_of(const ScenePhotons& photons) {
  return {{"gain", photons.noise.gain},
          {"offset", photons.noise.offset},
          {"read", photons.noise.read},
          {"dark", photons.dark},
          {"bright", photons.bright}};
}

Json json_of(const SceneNoise& scene, Layout layout) {
  Json json = {{"from", scene.from_s}};
  if (!scene.name.empty()) json["name"] = scene.name;
  if (scene.unit > 0) json["unit"] = scene.unit;
  json.update(json_of(scene.estimate, layout));
  if (scene.over_time) json["over_time"] = true;
  if (scene.half) json["half"] = json_of(*scene.half, layout);
  if (scene.volume) json["volume"] = json_of(*scene.volume);
  if (scene.photons) json["photons"] = json_of(*scene.photons);
  if (scene.series)
    json["series"] = {{"components", scene.series->components},
                      {"levels", numbers(scene.series->levels)}};
  return json;
}

/// Parses the JSON objects of to_json().
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  NoiseRecord record(const std::string& text) {
    const std::optional<Json> parsed = parse_json(text);
    if (!parsed || !parsed->is_object() || !parsed->contains("lull noise"))
      fail("it is not a noise file of lull");
    const Json& json = *parsed;
    check_format(member(json, "lull noise"));
    NoiseRecord record{.layout = layout_of(member(json, "layout"))};
    record.unit = unit_of(json);
    for (const Json& scene : list(member(json, "scenes")))
      record.scenes.push_back(scene_of(scene, record.layout));
    if (record.scenes.empty()) fail("it has no scenes");
    return record;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw BadData("'" + name_ + "' (" + why + "); write one with lull noise IN -o FILE");
  }
  void check_format(const Json& format) const {
    if (!format.is_number_integer() || format < 1) fail("its format number is invalid");
    if (format <= noise_format) return;
    throw BadData("'" + name_ + "' has format " + json_text(format) +
                  " (this version of lull reads noise files up to format " +
                  std::to_string(noise_format) + "); use a newer version of lull");
  }
  const Json& member(const Json& json, const char* name) const {
    const auto found = json.find(name);
    if (found == json.end()) fail(std::string("it has no \"") + name + "\"");
    return *found;
  }
  const Json& list(const Json& json) const {
    if (!json.is_array()) fail("a list is missing");
    return json;
  }
  float value(const Json& json) const {
    if (!json.is_number()) fail("a number is missing");
    const auto number = json.get<float>();
    if (!std::isfinite(number)) fail("a number is too large");
    return number;
  }
  /// Returns the member "unit", or 0 if the object has no such member.
  double unit_of(const Json& json) const {
    const auto found = json.find("unit");
    if (found == json.end()) return 0;
    if (!(value(*found) > 0)) fail("its unit is not a positive number");
    return found->get<double>();
  }
  template <class Numbers>
  void fill(const Json& json, Numbers&& values) const {
    if (list(json).size() != std::size(values)) fail("a list has a wrong number of values");
    for (std::size_t i = 0; i < std::size(values); ++i) values[i] = value(json[i]);
  }

  Layout layout_of(const Json& json) const {
    for (const auto& [layout, name] : layouts)
      if (json == name) return layout;
    fail("its layout is unknown");
  }

  PlaneNoise plane_of(const Json& json) const {
    if (!json.is_object()) fail("the noise of a plane is missing");
    PlaneNoise plane{.sigma = value(member(json, "sigma")), .correlation = {}, .curve = {}};
    if (const auto rows = json.find("autocorrelation"); rows != json.end()) {
      if (list(*rows).size() != correlation_lags)
        fail("an autocorrelation has a wrong number of lags");
      auto lags = std::make_shared<Autocorrelation>();
      for (int dy = 0; dy < correlation_lags; ++dy)
        fill((*rows)[dy], std::span(*lags).subspan(dy * correlation_lags, correlation_lags));
      plane.correlation = std::move(lags);
    }
    if (const auto found = json.find("curve"); found != json.end()) {
      auto curve = std::make_shared<NoiseCurve>();
      fill(member(*found, "sigma"), curve->sigma);
      if (found->contains("low")) curve->low = value((*found)["low"]);
      if (found->contains("high")) curve->high = value((*found)["high"]);
      plane.curve = std::move(curve);
    }
    return plane;
  }

  NoiseModel model_of(const Json& json, int planes) const {
    const Json& stored = list(member(json, "planes"));
    if (stored.size() != static_cast<std::size_t>(planes))
      fail("a scene has a wrong number of planes");
    NoiseModel noise;
    if (const auto found = json.find("opponents"); found != json.end()) {
      if (planes != 3 || list(*found).size() != 3) fail("a scene has a wrong number of planes");
      noise = NoiseModel::of_opponents(
          {plane_of((*found)[0]), plane_of((*found)[1]), plane_of((*found)[2])});
    }
    for (int i = 0; i < planes; ++i) {
      PlaneNoise plane = plane_of(stored[i]);
      if (noise.is_of_opponents())
        noise.plane(i).curve = plane.curve;
      else
        noise.plane(i) = std::move(plane);
    }
    return noise;
  }

  NoiseEstimate estimate_of(const Json& json, Layout layout) const {
    if (!json.is_object()) fail("an estimate is missing");
    const int planes = planes_of(layout);
    NoiseEstimate estimate;
    estimate.noise = model_of(json, planes);
    fill(member(json, "level"), std::span(estimate.level).first(planes));
    estimate.coarse = value(member(json, "coarse"));
    estimate.certain = member(json, "certain") == true;
    if (const auto why = json.find("why"); why != json.end() && why->is_string())
      estimate.why = why->get<std::string>();
    if (const auto found = json.find("confidence"); found != json.end())
      estimate.confidence = std::clamp(value(*found), 0.0f, 1.0f);
    try {
      validate(estimate.noise);
    } catch (const InvalidArgument& error) {
      fail(without_suggestion(error.what()));
    }
    return estimate;
  }

  std::array<int, 3> sizes(const Json& json) const {
    std::array<float, 3> numbers{};
    fill(json, numbers);
    std::array<int, 3> sizes{};
    for (int axis = 0; axis < 3; ++axis) {
      if (!(numbers[axis] >= 1 && numbers[axis] <= 1e6f))
        fail("the size of a noise map is invalid");
      sizes[axis] = static_cast<int>(numbers[axis]);
    }
    return sizes;
  }

  VolumeEstimate volume_of(const Json& json, const NoiseEstimate& estimate) const {
    if (!json.is_object()) fail("the noise of a volume is missing");
    VolumeEstimate volume{.certain = estimate.certain, .why = estimate.why};
    const Json& kind_name = member(json, "kind");
    const auto kind = std::ranges::find_if(kinds, [&](auto& k) { return kind_name == k.second; });
    if (kind == std::end(kinds)) fail("the kind of the noise is unknown");
    volume.noise.kind = kind->first;
    volume.noise.sigma = value(member(json, "sigma"));
    volume.level = value(member(json, "level"));
    volume.air = value(member(json, "background"));
    volume.tissue = value(member(json, "tissue"));
    if (const auto found = json.find("map"); found != json.end()) {
      if (!found->is_object()) fail("a noise map is missing");
      auto map = std::make_shared<NoiseMap>();
      map->voxels = sizes(member(*found, "voxels"));
      map->nodes = sizes(member(*found, "nodes"));
      for (const Json& level : list(member(*found, "levels"))) map->values.push_back(value(level));
      volume.noise.map = std::move(map);
    }
    try {
      if (volume.noise.sigma != 0 || volume.noise.map) validate(volume.noise);
    } catch (const InvalidArgument& error) {
      fail(without_suggestion(error.what()));
    }
    return volume;
  }

  SeriesEstimate series_of(const Json& json) const {
    if (!json.is_object()) fail("the noise of a series is missing");
    const float components = value(member(json, "components"));
    SeriesEstimate series;
    for (const Json& level : list(member(json, "levels"))) series.levels.push_back(value(level));
    if (!(components >= 0 && components <= static_cast<float>(series.levels.size())) ||
        std::ranges::any_of(series.levels, [](float level) { return level < 0; }))
      fail("the noise of a series is invalid");
    series.components = static_cast<int>(components);
    return series;
  }

  ScenePhotons photons_of(const Json& json) const {
    if (!json.is_object()) fail("photon noise is missing");
    const auto number = [&](const char* name) {
      (void)value(member(json, name));
      return json[name].get<double>();
    };
    ScenePhotons photons{
        .noise = {.gain = number("gain"), .offset = number("offset"), .read = number("read")},
        .dark = number("dark"),
        .bright = number("bright")};
    try {
      validate(photons.noise);
    } catch (const InvalidArgument& error) {
      fail(without_suggestion(error.what()));
    }
    return photons;
  }

  SceneNoise scene_of(const Json& json, Layout layout) const {
    SceneNoise scene{.estimate = estimate_of(json, layout)};
    if (const auto name = json.find("name"); name != json.end() && name->is_string())
      scene.name = name->get<std::string>();
    scene.unit = unit_of(json);
    if (const auto photons = json.find("photons"); photons != json.end())
      scene.photons = photons_of(*photons);
    (void)value(member(json, "from"));
    scene.from_s = json["from"].get<double>();
    const auto over_time = json.find("over_time");
    scene.over_time = over_time != json.end() && *over_time == true;
    if (const auto half = json.find("half"); half != json.end())
      scene.half = estimate_of(*half, layout);
    if (const auto volume = json.find("volume"); volume != json.end())
      scene.volume = volume_of(*volume, scene.estimate);
    if (const auto series = json.find("series"); series != json.end())
      scene.series = series_of(*series);
    return scene;
  }

  std::string name_;
};

}  // namespace

void add_scene(std::vector<SceneNoise>& scenes, const SceneNoise& scene) {
  if (!scenes.empty() && scene.from_s <= scenes.back().from_s) scenes.pop_back();
  scenes.push_back(scene);
}

std::string to_json(const NoiseRecord& record) {
  Json scenes = Json::array();
  for (const SceneNoise& scene : record.scenes) scenes.push_back(json_of(scene, record.layout));
  Json json = {{"lull noise", noise_format},
               {"layout", layouts[static_cast<int>(record.layout)].second}};
  if (record.unit > 0) json["unit"] = record.unit;
  json["scenes"] = std::move(scenes);
  return json_text(json);
}

NoiseRecord parse_noise(const std::string& text, const std::string& name) {
  return Reader(name).record(text);
}

NoiseRecord read_noise(const std::string& path) {
  return parse_noise(io::read_text(path, max_bytes), path);
}

void write_noise(const std::string& path, const NoiseRecord& record, bool overwrite,
                 const io::Access& access) {
  io::write_text(path, to_json(record) + "\n", {.overwrite = overwrite, .access = access});
}

}  // namespace lull::tools
